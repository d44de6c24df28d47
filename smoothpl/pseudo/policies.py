"""Threshold: where the weight of a pseudo-label starts to grow. A policy may remember; its memory is in buffers."""

from abc import ABC, abstractmethod
from typing import final

import torch
from torch import Tensor, nn

from smoothpl.pseudo.labels import Beliefs, PseudoLabels


class ThresholdPolicy(nn.Module, ABC):
    """`see` a step before answering for it (running means), `observe` it afterwards (counts); most do neither.

    Both get the whole step, of all ranks, so that every rank remembers the same.
    """

    lowest = 0.0
    """No threshold is ever below this, by which pseudo/smoothness.py judges a hard target."""
    by_class = False
    """Whether classes have thresholds of their own: then the threshold jumps where two classes tie."""
    is_reached = True
    """Whether an image can lie on either side of a threshold."""
    jumps: str | None = None
    """Why the memory is not a continuous function of the network, if it is not."""

    def prepare(self, num_unlabeled: int) -> None:
        """Called once, before training and before a checkpoint is loaded."""

    def prepare_labels(self, labeled_per_class: Tensor) -> None:
        """Called once, before training, with (C,) how many images of every class carry labels."""

    def see(self, beliefs: Beliefs) -> None:
        """Takes note of a step before its thresholds are asked for."""

    @abstractmethod
    def forward(self, pseudo: PseudoLabels) -> Tensor:
        """-> threshold (U,). Asks the memory and does not change it."""

    def taught(self, pseudo: PseudoLabels) -> PseudoLabels:
        """What is taught, and how well it scores; almost always what the network believes, and its confidence."""
        return pseudo

    @property
    def spread(self) -> Tensor | None:
        """The width of shape=gaussian, for policies that know one."""
        return None

    @property
    def waits(self) -> Tensor | None:
        """Whether only labels teach so far, a scalar, for policies with a warm-up."""
        return None

    def observe(self, pseudo: PseudoLabels, weight: Tensor) -> None:
        """Takes note of the pseudo-labels of a step, and of their weights (U,), when all is done."""


@final
class Fixed(ThresholdPolicy):
    """One threshold for all images, for all time (Pseudo-Labeling, FixMatch, UDA and their smooth versions)."""

    def __init__(self, threshold: float) -> None:
        super().__init__()
        self.threshold = self.lowest = threshold

    def forward(self, pseudo: PseudoLabels) -> Tensor:
        return torch.full_like(pseudo.confidence, self.threshold)


@final
class Everybody(ThresholdPolicy):
    """No threshold: every pseudo-label counts, with shape=step fully (Pi-Model, Mean Teacher, MixMatch)."""

    is_reached = False

    def forward(self, pseudo: PseudoLabels) -> Tensor:
        return torch.zeros_like(pseudo.confidence)


@final
class Relative(ThresholdPolicy):
    """AdaMatch: a share of the confidence that the network has, on average, in the labeled images of the step."""

    def __init__(self, threshold: float, num_classes: int) -> None:
        super().__init__()
        self.share = threshold
        self.lowest = threshold / num_classes  # a dominant class has at least 1 / C
        self.level: Tensor
        self.register_buffer("level", torch.tensor(self.lowest))

    def see(self, beliefs: Beliefs) -> None:
        self.level.copy_(self.share * beliefs.labeled.amax(dim=1).mean())

    def forward(self, pseudo: PseudoLabels) -> Tensor:
        return self.level.expand_as(pseudo.confidence)


@final
class SelfAdaptive(ThresholdPolicy):
    """FreeMatch: the running mean of confidence, lowered for classes that are predicted less.

    `low` and `high` bound the threshold of a class, lowered as it is, as in the published code, which has [0.9, 0.95]
    on SVHN (USB bounds the running mean instead, from above only).
    """

    by_class = True

    def __init__(self, num_classes: int, momentum: float = 0.999, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__()
        self.momentum = momentum
        if not 0 <= low <= high <= 1:
            raise ValueError(f"policy.low={low} and policy.high={high} must be 0 <= low <= high <= 1.")
        self.low, self.high = low, high
        self.lowest = low
        self.level: Tensor
        self.share: Tensor
        self.register_buffer("level", torch.tensor(1 / num_classes))
        self.register_buffer("share", torch.full((num_classes,), 1 / num_classes))

    def see(self, beliefs: Beliefs) -> None:
        self.level.lerp_(beliefs.unlabeled.confidence.mean(), 1 - self.momentum)
        self.share.lerp_(beliefs.unlabeled.probabilities.mean(dim=0), 1 - self.momentum)

    def forward(self, pseudo: PseudoLabels) -> Tensor:
        by_class = self.level * self.share / self.share.max()
        return by_class.clamp(self.low, self.high)[pseudo.label]


@final
class Running(ThresholdPolicy):
    """SoftMatch: the running mean of confidence; with its deviation, which shape=gaussian takes for its width."""

    def __init__(self, num_classes: int, momentum: float = 0.999, deviations: float = 2.0) -> None:
        super().__init__()
        self.momentum = momentum
        self.deviations = deviations
        self.lowest = 1 / num_classes  # no dominant class has less, nor has their mean
        self.mean: Tensor
        self.variance: Tensor
        self.register_buffer("mean", torch.tensor(1 / num_classes))
        self.register_buffer("variance", torch.tensor(1.0))

    def see(self, beliefs: Beliefs) -> None:
        variance, mean = torch.var_mean(beliefs.unlabeled.confidence)
        self.mean.lerp_(mean, 1 - self.momentum)
        self.variance.lerp_(variance, 1 - self.momentum)

    @property
    def spread(self) -> Tensor:
        return self.variance.sqrt() / self.deviations

    def forward(self, pseudo: PseudoLabels) -> Tensor:
        return self.mean.expand_as(pseudo.confidence)
