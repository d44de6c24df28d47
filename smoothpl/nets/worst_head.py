"""The worst head, and the gradient that reaches the features below it the other way round (DST)."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from smoothpl.nets.method_heads import initialise
from smoothpl.nets.with_heads import Deferred


class WorstHead(Deferred):
    """D - 2 D - 2 D - C with BatchNorm, which a term asks about the features of several views at once."""

    def __init__(self, dim: int, num_classes: int, times: int = 2) -> None:
        super().__init__()
        width = times * dim
        self.first, self.second = nn.Linear(dim, width), nn.Linear(width, width)
        # Of two dimensions: ranks share the statistics of such a layer on CPUs, too.
        self.norm1, self.norm2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
        self.classify = nn.Linear(width, num_classes)
        initialise(self)

    def forward(self, features: Tensor) -> Tensor:
        """features (n, D) -> (n, C)."""
        seen = relu(normalised(self.norm1, self.first(features)))
        logits: Tensor = self.classify(relu(normalised(self.norm2, self.second(seen))))
        return logits


def normalised(norm: nn.Module, rows: Tensor) -> Tensor:
    found: Tensor = norm(rows[:, :, None, None])
    return found.flatten(1)


class ReversedGradient(torch.autograd.Function):
    """The features as they are; the gradient times `-strength`."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, strength: Tensor) -> Tensor:
        ctx.save_for_backward(strength)
        return features.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (strength,) = ctx.saved_tensors
        return -strength * gradients[0], None


def with_reversed_gradient(features: Tensor, strength: Tensor) -> Tensor:
    reversed_features: Tensor = ReversedGradient.apply(features, strength)
    return reversed_features
