import pytest
import torch
from torch import nn

from smoothpl.config.checks import check
from smoothpl.errors import ConfigError
from smoothpl.run.build_method import build_method
from smoothpl.terms import Ascent
from smoothpl.terms.ascent import kept, seen_from, slopes_of
from tests.support.composing import composed

WRONG = {
    "method=flatmatch compile=true": r"compile=true cannot fuse ascent.* use compile=false, or ascent=null",
    "method=flatmatch forward=split": r"forward=split .* use forward=joint, or ascent=null",
    "method=fixmatch ascent=labels accumulate=2": r"accumulate=2: ascent follows the slope of a whole step",
    "method=smooth ascent=labels factor_weight=0.1": r"factor_weight=0.1 learns weights, and with ascent",
    "method=ccssl ascent=labels": r"ascent .* method=ccssl has mixtures or terms of its own; leave them out",
    "method=supervised ascent=labels": r"ascent would have no effect: method=supervised learns from labels alone",
}


def test_a_step_is_as_long_as_rho_whatever_the_slope() -> None:
    away = Ascent(rho=0.5).away({"a": torch.tensor([3e3]), "b": torch.tensor([[4e3]])})
    assert {name: each.item() for name, each in away.items()} == pytest.approx({"a": 0.3, "b": 0.4})
    assert not Ascent().away({"a": torch.zeros(2)})["a"].any()


def test_through_a_slope_of_0_it_jumps_unless_it_is_softened() -> None:
    slopes = torch.linspace(-1e-5, 1e-5, 2001, dtype=torch.float64)
    jumps = [
        torch.stack([Ascent(1.0, softening).away({"a": each})["a"] for each in slopes]).diff().abs().max().item()
        for softening in (0.0, 1e-12)
    ]
    assert jumps[0] >= 1.0
    assert jumps[1] < 0.02


def test_a_loss_that_is_kept_has_its_value_and_the_gradient_that_is_known() -> None:
    network = nn.Linear(3, 2)
    own = dict(network.named_parameters())
    loss = network(torch.randn(4, 3)).square().mean()
    slopes = dict(zip(own, slopes_of(loss, [*own.values()]), strict=True))
    again = kept(loss, own, slopes)
    assert again.equal(loss.detach())
    found = torch.autograd.grad(3 * again, [*own.values()])
    assert all(each.equal(3 * slope) for each, slope in zip(found, slopes.values(), strict=True))


def test_a_moved_network_is_another_one_only_while_it_looks() -> None:
    network = nn.Linear(3, 2)
    before, images = network.weight.detach().clone(), torch.randn(4, 3)
    moved = {"weight": network.weight + 1}
    seen = seen_from(moved, network, {"weak": images}, "joint")["weak"].logits
    assert network.weight.equal(before)
    torch.testing.assert_close(seen, network(images) + images.sum(1, keepdim=True))
    assert torch.autograd.grad(seen.sum(), network.weight)[0].equal(images.sum(0).expand(2, 3))


def test_it_goes_with_other_methods_and_answers_for_its_way() -> None:
    build_method(composed("method=smooth", "ascent=labels", "ascent.softening=1e-12", "smooth=strict"))
    (reason,) = build_method(composed("method=smooth", "ascent=labels")).obstacles
    assert str(reason).endswith("where its slope vanishes: use ascent.softening=1e-12")
    assert not build_method(composed("method=smooth", "ascent=labels", "ascent.rho=0")).obstacles


@pytest.mark.parametrize("numbers", [(-1, 0), (0.05, -1)])
def test_a_negative_length_is_refused(numbers: tuple[float, float]) -> None:
    with pytest.raises(ConfigError, match=r"ascent: rho=.* must not be negative"):
        Ascent(*numbers)


@pytest.mark.parametrize("words", WRONG)
def test_what_does_not_go_with_it_is_refused_with_the_way_out(words: str) -> None:
    with pytest.raises(ConfigError, match=WRONG[words]):
        check(composed(*words.split()), words.split())
