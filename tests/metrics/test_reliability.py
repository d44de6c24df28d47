import pytest
import torch
from torchmetrics.classification import MulticlassCalibrationError

from smoothpl.metrics.reliability import Bin, Reliability, bins_of, calibration_error


@pytest.mark.parametrize("sharpness", [0.5, 2.0, 8.0])
def test_the_calibration_error_is_that_of_torchmetrics(sharpness: float) -> None:
    ours, theirs = Reliability(), MulticlassCalibrationError(10, n_bins=15, norm="l1")
    for _ in range(3):
        logits, label = sharpness * torch.randn(200, 10), torch.randint(10, (200,))
        ours.update(logits, label)
        theirs.update(logits.softmax(dim=1), label)
    bins = bins_of(ours.compute())
    assert sum(each.number for each in bins) == 600
    assert calibration_error(bins) == pytest.approx(theirs.compute().item(), abs=1e-5)


def test_a_network_that_is_as_right_as_it_says_has_no_error() -> None:
    assert calibration_error([Bin(10, 0.9, 0.9), Bin(30, 0.5, 0.5)]) == 0
    assert calibration_error([Bin(10, 1.0, 0.0), Bin(30, 0.5, 0.5)]) == pytest.approx(0.25)
