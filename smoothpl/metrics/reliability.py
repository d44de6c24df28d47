"""Reliability: is a network that says 90 % right nine times out of ten?"""

from typing import NamedTuple

import torch
from torch import Tensor
from torchmetrics import Metric

NUM_BINS = 15


class Reliability(Metric):
    """Counts predictions by confidence, in bins of equal width: (bins, 3) number, sum of confidences, correct ones.

    torchmetrics' own calibration error keeps every prediction of the test set; a plot needs only the bins.
    """

    full_state_update = False

    def __init__(self, num_bins: int = NUM_BINS) -> None:
        super().__init__()
        self.bins: Tensor
        self.add_state("bins", torch.zeros(num_bins, 3, dtype=torch.float64), dist_reduce_fx="sum")

    def update(self, logits: Tensor, label: Tensor) -> None:
        confidence, predicted = logits.float().softmax(dim=1).max(dim=1)
        bin_of = (confidence * len(self.bins)).ceil().long().clamp(1, len(self.bins)) - 1
        belongs = torch.nn.functional.one_hot(bin_of, len(self.bins)).double()
        values = torch.stack([torch.ones_like(confidence), confidence, (predicted == label).float()], dim=1)
        self.bins += belongs.T @ values.double()

    def compute(self) -> Tensor:
        return self.bins


class Bin(NamedTuple):
    """Predictions of about the same confidence: how many, their mean confidence, their accuracy."""

    number: int
    confidence: float
    accuracy: float


def bins_of(table: Tensor) -> list[Bin]:
    """The bins that hold any predictions."""
    return [Bin(int(n), confidence / n, right / n) for n, confidence, right in table.tolist() if n]


def calibration_error(bins: list[Bin]) -> float:
    """Expected calibration error: the mean distance of confidence from accuracy, over all predictions."""
    total = sum(each.number for each in bins)
    return sum(each.number * abs(each.confidence - each.accuracy) for each in bins) / total
