"""Target: what the learning view is taught about an unlabeled image."""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from smoothpl.pseudo.labels import PseudoLabels


class Target(Protocol):
    """What cross-entropy is measured against."""

    def __call__(self, pseudo: PseudoLabels) -> Tensor:
        """-> (U,) classes or (U, C) probabilities."""


@dataclass(frozen=True)
class Hard:
    """The dominant class, as if it were certain."""

    def __call__(self, pseudo: PseudoLabels) -> Tensor:
        return pseudo.label


@dataclass(frozen=True)
class Soft:
    """All probabilities, as they are."""

    def __call__(self, pseudo: PseudoLabels) -> Tensor:
        return pseudo.probabilities


@dataclass(frozen=True)
class Sharpened:
    """All probabilities at a lower temperature (UDA): nearer to certain, and still continuous."""

    temperature: float = 0.4

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"target.temperature={self.temperature} must be positive; for certainty use target=hard.")

    def __call__(self, pseudo: PseudoLabels) -> Tensor:
        return sharpen(pseudo.probabilities, self.temperature)


def sharpen(probabilities: Tensor, temperature: float | Tensor) -> Tensor:
    """softmax(logits / temperature), made of softmax(logits)."""
    return (probabilities.clamp(min=1e-30).log() / temperature).softmax(dim=1)
