"""Threshold: where the weight of a pseudo-label starts to grow. A policy may remember; its memory is in buffers."""

from abc import ABC, abstractmethod
from typing import final

import torch
from torch import Tensor, nn

from smoothpl.pseudo.labels import PseudoLabels


class ThresholdPolicy(nn.Module, ABC):
    """Answers first, learns second: `forward` for the step at hand, then `observe` for the steps to come."""

    @abstractmethod
    def forward(self, pseudo: PseudoLabels) -> Tensor:
        """-> threshold (U,)."""

    def observe(self, pseudo: PseudoLabels) -> None:
        """Takes note of the pseudo-labels of this step; most policies have nothing to remember."""


@final
class Fixed(ThresholdPolicy):
    """One threshold for all images, for all time (Pseudo-Labeling, FixMatch and their smooth versions)."""

    def __init__(self, threshold: float) -> None:
        super().__init__()
        self.threshold = threshold

    def forward(self, pseudo: PseudoLabels) -> Tensor:
        return torch.full_like(pseudo.confidence, self.threshold)
