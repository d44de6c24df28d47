import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from smoothpl.pseudo import Power, Step
from tests.support.composing import build, composed, ramps

THRESHOLDS = [0.5, 0.7, 0.82, 0.95, 0.98, 0.999]


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("name", ramps())  # the file names in conf/shape
def test_shape_vanishes_at_threshold_and_saturates_at_certainty(name: str, threshold: float) -> None:
    shape = build("shape", name)
    confidence, at = torch.tensor([0.0, threshold, 1.0]), torch.full((3,), threshold)
    assert shape(confidence, at).tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("name", ramps())
def test_shape_never_decreases_and_stays_between_0_and_1(name: str, threshold: float) -> None:
    confidence = torch.linspace(0, 1, 10_001)
    weight = build("shape", name)(confidence, torch.full_like(confidence, threshold))
    assert (weight.diff() >= 0).all()
    assert weight.min() == 0
    assert weight.max() == 1


@pytest.mark.parametrize("name", [name for name in ramps() if name != "step"])
def test_every_shape_but_the_step_is_continuous(name: str) -> None:
    confidence = torch.linspace(0, 1, 1_000_001, dtype=torch.float64)
    weight = build("shape", name)(confidence, torch.full_like(confidence, 0.95))
    assert weight.diff().max() < 0.01


def test_the_step_jumps_at_the_threshold() -> None:
    weight = Step()(torch.tensor([0.95, 0.9501]), torch.full((2,), 0.95))
    assert weight.tolist() == [0, 1]


@given(sigma=some.floats(0, 1), tau=some.floats(0.01, 0.99), mu=some.floats(0.1, 10))
def test_power_is_the_papers_formula(sigma: float, tau: float, mu: float) -> None:
    expected = ((sigma - tau) / (1 - tau)) ** mu if sigma > tau else 0
    weight = Power(mu)(torch.tensor([sigma], dtype=torch.float64), torch.tensor([tau], dtype=torch.float64)).item()
    assert math.isclose(weight, expected, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize(("name", "mu"), [("linear", 1), ("square", 2), ("sqrt", 0.5)])
def test_named_shapes_are_powers_of_the_linear_one(name: str, mu: float) -> None:
    assert composed(f"shape={name}").shape.mu == mu


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 3.0])
def test_the_slope_is_finite_below_at_and_above_the_threshold(mu: float) -> None:
    confidence = torch.tensor([0.0, 0.5, 0.95, 0.96, 1.0], requires_grad=True)
    Power(mu)(confidence, torch.full((5,), 0.95)).sum().backward()  # type: ignore[no-untyped-call]
    assert confidence.grad is not None
    assert confidence.grad.isfinite().all()
    assert confidence.grad[:3].tolist() == [0, 0, 0]


@pytest.mark.parametrize("mu", [0, -1, math.nan])
def test_a_power_that_is_not_positive_is_refused_with_the_way_out(mu: float) -> None:
    with pytest.raises(ValueError, match=r"shape\.mu=.*shape=step"):
        Power(mu)


@pytest.mark.parametrize("mu", [1e308, math.inf, 1_000_001])
def test_a_power_beyond_which_no_pseudo_label_counts_is_refused(mu: float) -> None:
    with pytest.raises(ValueError, match=r"shape\.mu=.* must be at most 1000000: "):
        Power(mu)
