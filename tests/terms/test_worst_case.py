import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.run.build_method import build_method
from smoothpl.terms import WorstCase
from smoothpl.terms.worst_case import wrong
from tests.support.composing import composed

CHANCE = torch.Generator().manual_seed(0)


def test_it_is_the_logarithm_of_the_chance_to_be_wrong() -> None:
    logits, believed = torch.randn(6, 4, generator=CHANCE), torch.randn(6, 4, generator=CHANCE).softmax(1)
    torch.testing.assert_close(wrong(logits, believed), -(1 - (believed * logits.softmax(1)).sum(1)).log())


def test_a_head_that_is_certain_has_a_finite_loss_and_a_gradient() -> None:
    logits = torch.tensor([[60.0, 0.0, 0.0]]).requires_grad_()
    loss = wrong(logits, torch.tensor([[1.0, 0.0, 0.0]]))
    torch.testing.assert_close(loss, torch.tensor([60.0 - torch.tensor(2.0).log().item()]))
    (gradient,) = torch.autograd.grad(loss.sum(), logits)
    torch.testing.assert_close(gradient, torch.tensor([[1.0, -0.5, -0.5]]))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"terms\.worst_case\.labels=firm must be hard"):
        WorstCase(labels="firm")
    with pytest.raises(ConfigError, match=r"strength=-1 must not be negative"):
        WorstCase(strength=-1)
    with pytest.raises(ConfigError, match=r"terms\.worst_case needs worst"):
        build_method(composed("method=fixmatch", "terms=[worst_case]"))
    with pytest.raises(ConfigError, match=r"forward=split leaves .*, which terms\.worst_case needs"):
        build_method(composed("method=dst", "forward=split"))
