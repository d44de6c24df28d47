"""Heads: features of a backbone in, logits out."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, normalize

from smoothpl.errors import require


class Head(nn.Module, ABC):
    """Brings features to zero mean and unit deviation over the unlabeled images.

    `temperature` is what the outputs of the last layer are divided by to be confidences of pseudo-labels: on frozen
    features they would be too flat for any threshold. `loss_temperature` makes logits of them, for losses and
    predictions. All are found before the first step and stored with the run, as buffers.
    """

    def __init__(self, dim: int, num_classes: int) -> None:
        super().__init__()
        self.dim = dim
        self.num_classes = num_classes
        self.mean: Tensor
        self.scale: Tensor
        self.temperature: Tensor
        self.loss_temperature: Tensor
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("scale", torch.ones(dim))
        self.register_buffer("temperature", torch.ones(()))
        self.register_buffer("loss_temperature", torch.ones(()))

    def standardise_by(self, mean: Tensor, deviation: Tensor) -> None:
        """A feature that never changes says nothing, and is left out."""
        self.mean.copy_(mean)
        self.scale.copy_(torch.where(deviation > 0, 1 / deviation.clamp(min=1e-12), 0))

    def standardised(self, vectors: Tensor) -> Tensor:
        return (vectors.float() - self.mean) * self.scale

    def confidences_of(self, logits: Tensor) -> Tensor:
        """Logits on the scale of confidences, in float32 whatever the training precision."""
        return logits.float() * (self.loss_temperature / self.temperature)

    def start_fresh(self, features: Tensor, labels: Tensor) -> None:
        """Begins without an opinion; features (L, V, D), standardised, and labels (L,), for a head that needs one."""

    @abstractmethod
    def start_at(self, weight: Tensor, bias: Tensor) -> None:
        """Begins as a linear classifier of standardised features: weight (C, D), bias (C,)."""


class LinearHead(Head):
    """One linear layer. Standardising is folded into its weights, which are fewer than the features of a step."""

    def __init__(self, dim: int, num_classes: int) -> None:
        super().__init__(dim, num_classes)
        self.classify = zeros(dim, num_classes)

    def forward(self, vectors: Tensor) -> Tensor:
        """vectors (B, D) -> logits (B, C)."""
        weight = self.classify.weight * (self.scale / self.loss_temperature)
        return linear(vectors.float(), weight, self.classify.bias / self.loss_temperature - weight @ self.mean)

    def start_at(self, weight: Tensor, bias: Tensor) -> None:
        self.classify.weight.copy_(weight)
        self.classify.bias.copy_(bias)


class MLPHead(Head):
    """A linear layer, and beside it a hidden one, which begins without a say."""

    def __init__(self, dim: int, num_classes: int, width: int = 512) -> None:
        super().__init__(dim, num_classes)
        require(type(width) is int and width > 0, f"net.width={width} must be a positive whole number; 512 is usual.")
        self.classify = zeros(dim, num_classes)
        self.hidden = nn.Linear(dim, width)
        self.refine = zeros(width, num_classes)

    def forward(self, vectors: Tensor) -> Tensor:
        features = self.standardised(vectors)
        logits: Tensor = self.classify(features) + self.refine(self.hidden(features).relu())
        return logits / self.loss_temperature

    def start_at(self, weight: Tensor, bias: Tensor) -> None:
        self.classify.weight.copy_(weight)
        self.classify.bias.copy_(bias)


class CosineHead(Head):
    """The cosine of the angle between standardised features and the direction of each class, times `scale`."""

    def __init__(self, dim: int, num_classes: int, scale: float = 16.0) -> None:
        super().__init__(dim, num_classes)
        require(isinstance(scale, int | float) and scale > 0, f"net.scale={scale} must be a positive number.")
        self.sharpness = float(scale)
        self.directions = nn.Parameter(torch.empty(num_classes, dim))
        nn.init.normal_(self.directions, std=dim**-0.5)  # about as long as those of a start

    def forward(self, vectors: Tensor) -> Tensor:
        cosine = linear(normalize(self.standardised(vectors)), normalize(self.directions))
        return cosine * (self.sharpness / self.loss_temperature)

    def start_at(self, weight: Tensor, bias: Tensor) -> None:
        """Only directions can be taken over."""
        self.directions.copy_(normalize(weight))

    def start_fresh(self, features: Tensor, labels: Tensor) -> None:
        """Towards the mean of the labeled images of each class: there is no direction without an opinion."""
        for number in labels.unique().tolist():  # type: ignore[no-untyped-call]
            self.directions[number] = normalize(features[labels == number].mean(dim=(0, 1)), dim=0)


def zeros(dim: int, num_classes: int) -> nn.Linear:
    """A layer that begins without an opinion."""
    layer = nn.Linear(dim, num_classes)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer
