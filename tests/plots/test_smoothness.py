import pytest
import torch

from smoothpl.plots.smoothness import losses


@pytest.mark.parametrize("smooth", [False, True])
def test_the_derivative_that_is_drawn_is_that_of_the_loss_that_is_drawn(smooth: bool) -> None:
    confidence = torch.linspace(0.4, 1, 2001, dtype=torch.float64)
    loss, slope = losses(confidence, 0.75, smooth)
    by_differences = loss.diff() / confidence.diff()
    between = (slope[1:] + slope[:-1]) / 2
    away = (confidence[1:] - 0.75).abs() > 0.001
    torch.testing.assert_close(by_differences[away], between[away], rtol=1e-3, atol=1e-3)
    assert (slope.diff().abs().max() > 1) == (not smooth)  # the whole point
