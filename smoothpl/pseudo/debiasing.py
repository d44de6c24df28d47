"""Debiasing: pseudo-labels as if all classes were predicted alike, learned with a margin for those that are not."""

from typing import final

import torch
from torch import Tensor

from smoothpl.errors import ConfigError
from smoothpl.pseudo.labels import Beliefs
from smoothpl.pseudo.refinement import Refinement

SMALL = 1e-12


@final
class Debiasing(Refinement):
    """p / phat^strength, made to sum to 1: softmax(z - strength log phat), phat the running mean of p (DebiasPL).

    The view that learns gets the same back, z + strength log phat: it has to be surer of classes that are predicted
    seldom. As in the authors' code, labels are made with phat as it was before the step, and learned with phat as it is
    after it.
    """

    def __init__(self, num_classes: int, strength: float = 0.4, momentum: float = 0.999) -> None:
        super().__init__()
        if strength < 0 or not 0 <= momentum < 1:
            raise ConfigError(
                f"refine.debiasing: strength={strength} must not be negative, momentum={momentum} must lie in [0, 1)."
            )
        self.strength = strength
        self.momentum = momentum
        self.before: Tensor
        self.predicted: Tensor
        self.register_buffer("before", torch.full((num_classes,), 1 / num_classes))
        self.register_buffer("predicted", torch.full((num_classes,), 1 / num_classes))

    def see(self, beliefs: Beliefs) -> None:
        self.before.copy_(self.predicted)
        self.predicted.lerp_(beliefs.unlabeled.probabilities.mean(dim=0), 1 - self.momentum)

    def forward(self, probabilities: Tensor) -> Tensor:
        debiased = probabilities / self.before.clamp(min=SMALL) ** self.strength
        return debiased / debiased.sum(dim=1, keepdim=True)

    def for_learning(self, logits: Tensor) -> Tensor:
        return logits + self.strength * self.predicted.clamp(min=SMALL).log()
