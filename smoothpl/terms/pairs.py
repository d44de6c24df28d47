"""Pairs: images that are believed to show the same class attract each other, all others are repelled (CCSSL)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from smoothpl.errors import ConfigError
from smoothpl.pseudo.obstacles import SHAPE_JUMPS, Obstacle
from smoothpl.pseudo.shapes import Gaussian, jumps
from smoothpl.pseudo.similarity import similarity
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting
from smoothpl.ranks import of_all_ranks, whole_batch
from smoothpl.terms.term import Term

TIES = Obstacle(
    "pairs of hard labels jump where two classes tie, at any confidence",
    "terms.pairs.pairs=soft or terms.pairs.threshold=0.5",
    ("terms.pairs.pairs=soft",),
)


class Pairs(Term):
    """E over both views of -sum_j W_ij log softmax_j(g_i . g_j / temperature) / sum_j W_ij, j being all but i itself.

    W_ij is sigma_i sigma_j where both have the same label (`pairs="hard"`), or p_i . p_j (`"soft"`), and 1 for the
    other view of the same image. With a `threshold` both must be sure: W counts by how far they are above it, by the
    shape of the method. With `pairs="own"` only the views of one image attract each other: SimCLR's NT-Xent.
    """

    whole_batch = True

    def __init__(
        self,
        pairs: str = "hard",
        threshold: float | None = None,
        temperature: float = 0.07,
        weight: float = 1.0,
        views: Sequence[str] = ("strong", "simclr"),
        head: str = "projection",
    ) -> None:
        super().__init__(weight)
        if pairs not in ("hard", "soft", "own"):
            raise ConfigError(
                f"terms.pairs.pairs={pairs} must be hard (as published), soft (continuous) or own (no pseudo-labels)."
            )
        if pairs == "own" and threshold is not None:
            raise ConfigError(f"terms.pairs.threshold={threshold} has no effect with pairs=own; leave it out.")
        if threshold is not None and not 0 < threshold < 1:
            raise ConfigError(f"terms.pairs.threshold={threshold} must lie between 0 and 1; null: all pairs count.")
        self.pairs, self.threshold, self.temperature = pairs, threshold, temperature
        self.views, self.head = views, head
        self.needs = frozenset({*views, head}) - {"weak", "strong"}

    def forward(self, step: TrainStep) -> Tensor:
        embeddings = torch.cat([whole_batch(step.outputs[view].heads[self.head]) for view in self.views])
        near = similarity(embeddings, embeddings, self.temperature)
        itself = torch.eye(len(near), dtype=torch.bool, device=near.device)
        learned = near.masked_fill(itself, -torch.inf).log_softmax(dim=1).masked_fill(itself, 0)
        times = len(self.views)
        weight = self.weights(step).repeat(times, times).masked_fill(itself, 0)
        return -((weight * learned).sum(dim=1) / weight.sum(dim=1)).mean()

    def weights(self, step: TrainStep) -> Tensor:
        """-> W (U, U), of all ranks."""
        believed = of_all_ranks(step.lessons)
        if self.pairs == "own":
            weight = torch.zeros(len(believed.label), len(believed.label), device=believed.label.device)
        elif self.pairs == "soft":
            weight = similarity(believed.probabilities, believed.probabilities)
        else:
            same = believed.label.unsqueeze(1) == believed.label
            weight = same * believed.confidence.unsqueeze(1) * believed.confidence
        if self.threshold is not None:
            sure = step.weighting.weigh(believed.confidence, torch.full_like(believed.confidence, self.threshold))
            weight = weight * sure.unsqueeze(1) * sure
        own = torch.eye(len(weight), dtype=torch.bool, device=weight.device)
        return torch.where(own, 1, weight)

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]:
        found = [SHAPE_JUMPS] if self.threshold is not None and jumps(weighting.shape) else []
        vanishes = self.threshold is not None and max(self.threshold, weighting.floor) >= 0.5
        if self.pairs == "hard" and (not vanishes or isinstance(weighting.shape, Gaussian)):
            found.append(TIES)
        return found
