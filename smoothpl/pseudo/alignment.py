"""Alignment: probabilities corrected so that, on average, classes are as frequent as they should be."""

from abc import abstractmethod
from typing import final

import torch
from torch import Tensor

from smoothpl.errors import ConfigError
from smoothpl.pseudo.labels import Beliefs
from smoothpl.pseudo.refinement import Refinement

SMALL = 1e-6


class Alignment(Refinement):
    """The first refinement of every method. It knows nothing of the images but their probabilities."""

    @abstractmethod
    def forward(self, probabilities: Tensor) -> Tensor:
        """(U, C) -> (U, C)."""


@final
class Unaligned(Alignment):
    """Leaves probabilities as they are."""

    def forward(self, probabilities: Tensor) -> Tensor:
        return probabilities


@final
class RunningAlignment(Alignment):
    """Divides by how often the network predicts a class (running mean), multiplies by how often it should.

    That is `towards="labeled"`: as often as among the labeled images (AdaMatch), or `"uniform"`: all alike (SoftMatch).
    """

    def __init__(self, num_classes: int, towards: str, teaches: bool = True, momentum: float = 0.999) -> None:
        super().__init__()
        if towards not in ("labeled", "uniform"):
            raise ValueError(f"align.towards={towards} must be labeled or uniform.")
        self.teaches = teaches
        self.momentum = momentum
        self.follows_labeled = towards == "labeled"
        self.predicted: Tensor
        self.wanted: Tensor
        self.seen: Tensor
        self.register_buffer("predicted", torch.full((num_classes,), 1 / num_classes))
        self.register_buffer("wanted", torch.full((num_classes,), 1 / num_classes))
        self.register_buffer("seen", torch.zeros((), dtype=torch.bool))

    def prepare(self, labeled_per_class: Tensor) -> None:
        without = (labeled_per_class == 0).nonzero().squeeze(1).tolist()
        if self.follows_labeled and without:
            raise ConfigError(
                f"align=labeled makes classes as frequent as among the labeled images, but class {without[0]} has none "
                "and would never be learned; use align=uniform, align=none or split=balanced."
            )

    def see(self, beliefs: Beliefs) -> None:
        mean = beliefs.unlabeled.probabilities.mean(dim=0)
        # The first step is taken whole: there is nothing yet to average with.
        self.predicted.copy_(torch.where(self.seen, self.predicted.lerp(mean, 1 - self.momentum), mean))
        self.seen.fill_(True)
        if self.follows_labeled:
            self.wanted.lerp_(beliefs.labeled.mean(dim=0), 1 - self.momentum)

    def forward(self, probabilities: Tensor) -> Tensor:
        aligned = probabilities * (self.wanted + SMALL) / (self.predicted + SMALL)
        return aligned / aligned.sum(dim=1, keepdim=True)
