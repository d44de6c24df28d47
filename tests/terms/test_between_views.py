import pytest
import torch
from torch.nn.functional import kl_div

from smoothpl.errors import ConfigError
from smoothpl.pseudo import Fixed, Step, Weighting
from smoothpl.terms import BetweenViews
from tests.support.method_checks import step_of

WEAK, MEDIUM, STRONG = (2 * torch.randn(3, 8, 3, generator=torch.Generator().manual_seed(0))).unbind()


@pytest.mark.parametrize(("teacher", "logits"), [("weak", WEAK), ("medium", MEDIUM)])
def test_the_view_that_teaches_is_held_against_the_threshold(teacher: str, logits: torch.Tensor) -> None:
    weighting = Weighting(Fixed(0.7), Step())
    step = step_of(weak=WEAK, medium=MEDIUM, strong=STRONG)
    step = step._replace(weighting=weighting, weight=weighting(step.pseudo))
    sure = logits.softmax(1).amax(1) > 0.7
    assert 0 < sure.sum() < 8
    each = kl_div(STRONG.log_softmax(1), (logits / 0.5).softmax(1), reduction="none").sum(1)
    torch.testing.assert_close(BetweenViews(teacher, "strong")(step), (sure * each).mean())


def test_the_view_that_teaches_does_not_learn() -> None:
    medium, strong = MEDIUM.clone().requires_grad_(), STRONG.clone().requires_grad_()
    loss = BetweenViews("medium", "strong")(step_of(weak=WEAK, medium=medium, strong=strong))
    loss.backward()
    assert medium.grad is None
    assert strong.grad is not None


def test_it_needs_views_that_not_every_method_has() -> None:
    assert BetweenViews("weak", "medium").needs == {"medium"}
    with pytest.raises(ConfigError, match="temperature=0"):
        BetweenViews("weak", "medium", temperature=0)
