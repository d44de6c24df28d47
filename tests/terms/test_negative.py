import pytest
import torch

from smoothpl.pseudo import Fixed, Weighting
from smoothpl.pseudo.shapes import Power
from smoothpl.terms import Negative
from tests.support.method_checks import step_of

WEAK = torch.tensor([[0.6, 0.3, 0.08, 0.02]]).log()
STRONG = torch.tensor([[0.5, 0.2, 0.2, 0.1]]).log().requires_grad_()


def test_the_classes_beyond_the_first_two_are_taught_not_to_be() -> None:
    found = Negative(0.9)(step_of(weak=WEAK, strong=STRONG))
    assert found.item() == pytest.approx(-torch.tensor([0.8, 0.9]).log().sum().item())
    (slope,) = torch.autograd.grad(found, STRONG)
    assert (slope[0, 2:] > 0).all()


def test_what_the_strong_view_is_sure_of_is_left_alone() -> None:
    found = Negative(0.4)(step_of(weak=WEAK, strong=STRONG))  # 0.2 > 0.16
    assert found.item() == pytest.approx(-torch.tensor(0.9).log().item())


def test_softly_a_class_is_excluded_as_far_as_it_is_behind() -> None:
    """k = 1 + (0.2 + 0.2 + 0.1) / s, s = 0.5^0.6 0.2^0.3 0.2^0.08 0.1^0.02; p_(k) is between those of two classes."""
    k = 1 + 0.5 / (0.5**0.6 * 0.2**0.38 * 0.1**0.02)
    at_k = 0.3 + (k - 2) * (0.08 - 0.3)
    weights = [(1 - 0.08 / at_k) * (1 - 0.2 / 0.81), (1 - 0.02 / at_k) * (1 - 0.1 / 0.81)]
    found = Negative(0.9, ranks="soft")(step_of(weak=WEAK, strong=STRONG))
    assert found.item() == pytest.approx(-(torch.tensor(weights) * torch.tensor([0.8, 0.9]).log()).sum().item())


def test_it_jumps_as_published_and_says_what_does_not() -> None:
    (reason,) = Negative(0.95).obstacles(Weighting(Fixed(0.95), Power()))
    assert str(reason).endswith("jump: use terms.negative.ranks=soft")
    assert not Negative(0.95, ranks="soft").obstacles(Weighting(Fixed(0.95), Power()))
