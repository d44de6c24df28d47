"""How much a network is surprised by the truth: -log p of the true class, at temperatures from sure to doubtful.

Two networks are compared at the temperature that suits each: what they know counts, not how sure they are of it.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

TEMPERATURES = tuple(2 ** (quarter / 4) for quarter in range(-8, 17))
"""What logits are divided by: from 1/4 to 16."""


def surprises(logits: Tensor, labels: Tensor) -> Tensor:
    """logits (B, C), labels (B,) -> (temperatures, B)."""
    every = [cross_entropy(logits.float() / each, labels, reduction="none") for each in TEMPERATURES]
    return torch.stack(every)


def least(parts: Sequence[Sequence[float]], numbers: Sequence[int]) -> float:
    """Means by temperature of several sets of images, and their sizes -> that of all of them, where it is least."""
    pooled: list[float] = [
        sum(mean * number for mean, number in zip(means, numbers, strict=True)) / sum(numbers)
        for means in zip(*parts, strict=True)
    ]
    return min(pooled)
