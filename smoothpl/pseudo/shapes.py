"""Shape, Phi of the paper: how the weight of a pseudo-label grows from 0 at the threshold to 1 at certainty."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

LARGEST_POWER = 1_000_000
"""Of a ramp: only certainty itself counts, and its slope is still a number in float32."""


class Shape(Protocol):
    """Phi(sigma; tau)."""

    def __call__(self, confidence: Tensor, threshold: Tensor) -> Tensor:
        """confidence (U,), threshold (U,) -> weight (U,) in [0, 1]."""


@dataclass(frozen=True)
class Step:
    """All or nothing: Pseudo-Labeling and FixMatch (paper, Sec. 3.2).

    Strictly above the threshold, as the paper writes it, so that every shape vanishes there; TorchSSL counts equality.
    """

    def __call__(self, confidence: Tensor, threshold: Tensor) -> Tensor:
        return (confidence > threshold).to(confidence.dtype)


@dataclass(frozen=True)
class Power:
    """Phi^mu: a ramp from 0 at the threshold to 1 at certainty (paper, Sec. 3.5).

    mu = 1 is the paper's default; 2 trusts only the very sure, 1/2 also the barely sure.
    """

    mu: float = 1.0

    def __post_init__(self) -> None:
        if not self.mu > 0:
            raise ValueError(f"shape.mu={self.mu} must be positive; for a hard cut use shape=step.")
        if self.mu > LARGEST_POWER:
            raise ValueError(
                f"shape.mu={self.mu} must be at most {LARGEST_POWER}: with that, nothing but certainty has a weight; "
                "the paper uses 0.5, 1 and 2."
            )

    def __call__(self, confidence: Tensor, threshold: Tensor) -> Tensor:
        ramp = (confidence - threshold) / (1 - threshold)
        above = ramp > 0
        # Raise only what is above: at the threshold a power has slope inf when mu < 1, and the factor loss, which
        # differentiates the shape, would multiply it by 0.
        return torch.where(above, torch.where(above, ramp, 1) ** self.mu, 0)


@dataclass(frozen=True)
class Gaussian:
    """SoftMatch: 1 above the threshold, and below it a bell that never quite vanishes.

    The one shape with a width of its own, which the policy knows.
    """

    def __call__(self, confidence: Tensor, threshold: Tensor, spread: Tensor) -> Tensor:
        below = (confidence - threshold).clamp(max=0)
        return torch.exp(-(below**2) / (2 * spread**2))


AnyShape = Shape | Gaussian


PROBE = 0.95
FINE = 1e-6
JUMP = 0.1  # a continuous shape does not rise by this between neighbouring floats; even the fourth root does not


def jumps(shape: AnyShape) -> bool:
    """Whether a shape jumps at a threshold: it is tried, so that a shape of one's own is judged, too."""
    if isinstance(shape, Gaussian):
        return False
    around: Tensor = PROBE + FINE * torch.linspace(-1, 1, 2001, dtype=torch.float64)
    return bool(shape(around, torch.full_like(around, PROBE)).diff().abs().max() > JUMP)


def slope_jumps(shape: AnyShape) -> bool:
    """Whether Phi times its slope, the gradient of the factor loss, does not vanish towards the threshold.

    For Phi^mu it is mu r^(2 mu - 1), r being how far above the threshold: constant for mu = 1/2, and infinite below.
    """
    if isinstance(shape, Gaussian):
        return False
    above = (PROBE + (1 - PROBE) * torch.tensor([1e-4, 1e-8], dtype=torch.float64)).requires_grad_()
    with torch.enable_grad():
        weight = shape(above, torch.full_like(above, PROBE))
        if not weight.requires_grad:  # a step
            return False
        (slope,) = torch.autograd.grad(weight.sum(), above)
    near, nearest = (weight.detach() * slope).tolist()
    return bool(nearest > 0.99 * near and near > 0)
