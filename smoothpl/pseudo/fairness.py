"""Fairness: FreeMatch's extra loss, against learning some classes and forgetting others."""

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn

from smoothpl.pseudo.labels import PseudoLabels, one_hot, probabilities
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.weighting import Weighting
from smoothpl.ranks import of_all_ranks

SMALL = 1e-12


@final
class Fairness(nn.Module):
    """sum of p log q: p and q are how sure the network is of each class, on the weak and on the strong views.

    p is the running mean of its probabilities over how often it predicts the class, q that of the strong views of this
    step which count; both are made to sum to 1. With `counts="soft"` predictions count by their weights, and strong
    views by all their probabilities, so that nothing jumps when an image crosses a threshold or changes its class; the
    loss then fades with the last pseudo-label, where the published one ends at once.
    """

    is_hard = True
    """It counts dominant classes, and these jump at ties."""

    def __init__(self, num_classes: int, weight: float = 0.01, counts: str = "hard", momentum: float = 0.999) -> None:
        super().__init__()
        if counts not in ("hard", "soft"):
            raise ValueError(f"fairness.counts={counts} must be hard (FreeMatch) or soft (continuous).")
        if not weight > 0:
            raise ValueError(f"fairness.weight={weight} must be positive; for none use fairness=none.")
        self.weight = weight
        self.soft = counts == "soft"
        self.momentum = momentum
        self.sureness: Tensor
        self.predicted: Tensor
        self.register_buffer("sureness", torch.full((num_classes,), 1 / num_classes))
        self.register_buffer("predicted", torch.full((num_classes,), 1 / num_classes))

    def see(self, pseudo: PseudoLabels, weight: Tensor) -> None:
        """Takes note of the weak views of a step, and of their weights (U,)."""
        pseudo, weight = of_all_ranks(pseudo), of_all_ranks(weight)
        self.sureness.lerp_(pseudo.probabilities.mean(dim=0), 1 - self.momentum)
        counts = weight if self.soft else torch.ones_like(weight)
        seen = total_by(counts, one_hot(pseudo.label, len(self.predicted))) / len(counts)
        # A running mean over all that counts: the less of it in a step, the less the mean moves.
        self.predicted += (1 - self.momentum) * (seen - counts.mean() * self.predicted)

    def forward(self, logits: Tensor, weight: Tensor) -> Tensor:
        """logits (U, C) of the learned view, weight (U,) -> scalar, to be added to the loss."""
        strong = probabilities(logits)
        counts = weight if self.soft else (weight > 0).float()
        total = counts.sum()
        mean = total_by(counts, strong) / total.clamp(min=SMALL)
        votes = strong.detach() if self.soft else one_hot(strong.argmax(dim=1), strong.shape[1])
        share = total_by(counts, votes) / total.clamp(min=SMALL)
        p = normalized(over(self.sureness, self.predicted))
        q = normalized(over(mean, share))
        loss = (p * torch.log(q + SMALL)).sum()
        return self.weight * loss * (counts.mean() if self.soft else (total > 0).float())

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]:
        way_out = "fairness.counts=soft"
        return () if self.soft else [Obstacle("fairness.counts=hard counts predictions", way_out, (way_out,))]


def total_by(counts: Tensor, rows: Tensor) -> Tensor:
    """counts (U,), rows (U, C) -> (C,), in float32: mixed precision would multiply in bfloat16."""
    with torch.autocast(counts.device.type, enabled=False):
        return counts @ rows


def over(amount: Tensor, count: Tensor) -> Tensor:
    """amount / count, and 0 for a class that was never counted."""
    return torch.where(count > 0, amount / count.clamp(min=SMALL), 0)


def normalized(amounts: Tensor) -> Tensor:
    return amounts / amounts.sum().clamp(min=SMALL)
