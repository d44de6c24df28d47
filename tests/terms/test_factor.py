"""The factor loss differentiates the weight itself, so more can jump than in the lesson."""

import pytest
import torch

from smoothpl.pseudo import Fixed, Gaussian, Power, Running, Weighting
from smoothpl.pseudo.labels import from_probabilities
from smoothpl.terms.factor import Factor


def weighting(mu: float = 1.0, score: str = "confidence", threshold: float = 0.9) -> Weighting:
    return Weighting(Fixed(threshold), Power(mu), score=score)  # type: ignore[arg-type]


def largest_jump(judge: Weighting, first: list[float], last: list[float]) -> float:
    """Of the gradient of -sg(Phi) Phi by the logits, along a straight way between two of them, relative to its size."""
    way = torch.linspace(0, 1, 200_001, dtype=torch.float64).unsqueeze(1)
    logits = (torch.tensor(first) * (1 - way) + torch.tensor(last) * way).requires_grad_()
    weight = judge(from_probabilities(logits.softmax(dim=1)))
    (gradient,) = torch.autograd.grad((weight.detach() * weight).sum(), logits)
    return float(gradient.diff(dim=0).abs().max() / gradient.abs().max())


THROUGH_THRESHOLD = ([1.0, 0.0, -1.0], [6.0, 0.0, -1.0])
THROUGH_TIE_OF_THE_OTHERS = ([3.0, 0.5, -0.5], [3.0, -0.5, 0.5])
THROUGH_TIE = ([0.6, 0.5, -3.0], [0.5, 0.6, -3.0])


@pytest.mark.parametrize(("mu", "jumps"), [(0.4, True), (0.5, True), (0.75, False), (1.0, False), (2.0, False)])
def test_its_slope_must_vanish_at_the_threshold(mu: float, jumps: bool) -> None:
    judge = weighting(mu)
    reasons = [str(each) for each in Factor(1.0).obstacles(judge)]
    assert bool(reasons) == jumps
    assert (largest_jump(judge, *THROUGH_THRESHOLD) > 0.1) == jumps
    assert not jumps or "a slope that does not vanish at the threshold" in reasons[0]


@pytest.mark.parametrize(
    ("judge", "way", "reason"),
    [
        (weighting(score="margin", threshold=0.3), THROUGH_TIE_OF_THE_OTHERS, "the second and the third class tie"),
        (weighting(threshold=0.3), THROUGH_TIE, "a kink where two classes tie"),
    ],
)
def test_its_score_must_have_no_kink_where_it_counts(
    judge: Weighting, way: tuple[list[float], list[float]], reason: str
) -> None:
    (obstacle,) = Factor(1.0).obstacles(judge)
    assert reason in str(obstacle)
    assert obstacle.words == ("factor_weight=0",)
    assert largest_jump(judge, *way) > 0.1


def test_above_one_half_and_with_a_ramp_nothing_is_in_the_way() -> None:
    judge = weighting(threshold=0.5)
    assert not Factor(1.0).obstacles(judge)
    assert largest_jump(judge, *THROUGH_TIE_OF_THE_OTHERS) < 0.01
    bell = Weighting(Running(3), Gaussian())
    assert "a kink where two classes tie" in str(Factor(1.0).obstacles(bell)[0])
