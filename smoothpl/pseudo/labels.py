"""Pseudo-labels: what the network believes of unlabeled images, and how firmly."""

from typing import NamedTuple

import torch
from torch import Tensor


class PseudoLabels(NamedTuple):
    """The dominant class of each image and sigma, its score, with the probabilities they are taken from."""

    label: Tensor  # (U,) int64
    confidence: Tensor  # (U,) float32
    probabilities: Tensor  # (U, C) float32
    image: Tensor | None = None  # (U,) which of the N unlabeled images, for policies that remember each
    consensus: Tensor | None = None  # (U,) the score of several draws together, where a teacher makes several


class Beliefs(NamedTuple):
    """All that the memory of a method may learn from in one step."""

    unlabeled: PseudoLabels
    labeled: Tensor  # (B, C) probabilities float32
    label: Tensor  # (B,)


def pseudo_labels(logits: Tensor, image: Tensor | None = None) -> PseudoLabels:
    """logits (U, C) of the weak view -> pseudo-labels. The paper's stop-gradient on them, sg, is here."""
    return from_probabilities(probabilities(logits.detach()), image)


def probabilities(logits: Tensor) -> Tensor:
    """float32 whatever the training precision: bfloat16 cannot tell 0.949 from 0.951."""
    return logits.float().softmax(dim=1)


def from_probabilities(
    probabilities: Tensor, image: Tensor | None = None, consensus: Tensor | None = None
) -> PseudoLabels:
    confidence, label = probabilities.max(dim=1)
    return PseudoLabels(label, confidence, probabilities, image, consensus)


def one_hot(label: Tensor, num_classes: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """(U,) -> (U, C). PyTorch's own asks the device for the largest label, and waits."""
    return (label.unsqueeze(1) == torch.arange(num_classes, device=label.device)).to(dtype)
