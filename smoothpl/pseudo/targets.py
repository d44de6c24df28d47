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
