"""Alignment x policy x shape: the weight of every pseudo-label of a step, and all that training knows of a method."""

from typing import Literal

import torch
from torch import Tensor, nn

from smoothpl.pseudo.alignment import Alignment, Unaligned
from smoothpl.pseudo.annealing import Annealing
from smoothpl.pseudo.labels import Beliefs, PseudoLabels, from_probabilities
from smoothpl.pseudo.policies import ThresholdPolicy
from smoothpl.pseudo.shapes import AnyShape, Gaussian
from smoothpl.ranks import of_all_ranks


class Weighting(nn.Module):
    """In one step: `see` it, ask for `lessons` and their weights, `observe` what came of it.

    `score` is what the threshold is held against: the confidence in the dominant class, or its margin over the second,
    which vanishes where two classes tie. `floor` is the lowest threshold, whatever the policy says. With `annealing`
    labeled images have weights, too.
    """

    def __init__(
        self,
        policy: ThresholdPolicy,
        shape: AnyShape,
        alignment: Alignment | None = None,
        score: Literal["confidence", "margin"] = "confidence",
        floor: float = 0.0,
        annealing: Annealing | None = None,
    ) -> None:
        super().__init__()
        self.policy = policy
        self.shape = shape
        self.alignment = Unaligned() if alignment is None else alignment
        self.score = score
        self.floor = floor
        self.annealing = annealing
        if isinstance(shape, Gaussian) and policy.spread is None:
            raise ValueError("shape=gaussian takes its width from a policy that knows one; use policy=running with it.")
        if isinstance(shape, Gaussian) and annealing is not None:
            raise ValueError("annealing with shape=gaussian has no width; use another shape, or annealing=none.")
        if score not in ("confidence", "margin"):
            raise ValueError(f"score={score} must be confidence or margin.")

    def prepare(self, num_unlabeled: int, labeled_per_class: Tensor | None = None) -> None:
        """Called once, before training, with the sizes of the fold."""
        self.policy.prepare(num_unlabeled)
        if labeled_per_class is not None:
            self.alignment.prepare(labeled_per_class)

    def see(self, beliefs: Beliefs) -> None:
        """Called before the weights of a step are asked for."""
        if self.annealing is not None:
            self.annealing.see()
        beliefs = of_all_ranks(beliefs)
        self.alignment.see(beliefs)
        self.policy.see(beliefs._replace(unlabeled=self.aligned(beliefs.unlabeled)))

    def aligned(self, pseudo: PseudoLabels) -> PseudoLabels:
        if isinstance(self.alignment, Unaligned):
            return pseudo
        return from_probabilities(self.alignment(pseudo.probabilities), pseudo.image)

    def forward(self, pseudo: PseudoLabels) -> Tensor:
        """-> weight (U,) in [0, 1]."""
        waits = self.policy.waits
        weight = self.above_threshold(pseudo)
        return weight if waits is None else torch.where(waits, 0, weight)

    def above_threshold(self, pseudo: PseudoLabels) -> Tensor:
        """-> weight (U,) by confidence and threshold alone."""
        pseudo = self.policy.taught(self.aligned(pseudo))
        threshold = self.policy(pseudo).clamp(min=self.floor)
        confidence = margin(pseudo.probabilities) if self.score == "margin" else pseudo.confidence
        if isinstance(self.shape, Gaussian):
            assert self.policy.spread is not None
            return self.shape(confidence, threshold, self.policy.spread)
        return self.shape(confidence, threshold)

    def of_labeled(self, probabilities: Tensor, label: Tensor) -> Tensor | None:
        """probabilities (B, C) of labeled images, detached -> weight (B,), or None if all weigh 1.

        As published, the loss is a mean over the images that are not held back: these weigh accordingly more.
        """
        if self.annealing is None or isinstance(self.shape, Gaussian):
            return None
        doubt = 1 - probabilities.gather(1, label.unsqueeze(1)).squeeze(1)
        weight = self.shape(doubt, (1 - self.annealing()).expand_as(doubt))
        of_all: Tensor = of_all_ranks(weight)
        return weight * len(of_all) / of_all.sum().clamp(min=1)

    def lessons(self, pseudo: PseudoLabels) -> PseudoLabels:
        """What the target is made of."""
        return self.policy.taught(self.aligned(pseudo) if self.alignment.teaches else pseudo)

    def observe(self, pseudo: PseudoLabels, weight: Tensor) -> None:
        """Called after the weights of a step were used."""
        self.policy.observe(of_all_ranks(self.aligned(pseudo)), of_all_ranks(weight))


def margin(probabilities: Tensor) -> Tensor:
    """(U, C) -> (U,): how far the first class is ahead of the second."""
    first, second = probabilities.topk(2, dim=1).values.unbind(dim=1)
    return first - second
