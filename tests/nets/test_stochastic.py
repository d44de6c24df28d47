import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.nets import LinearHead, WideResNet
from smoothpl.nets.forwards import look
from smoothpl.nets.noise import normal
from smoothpl.nets.stochastic import Stochastic, disturbed, drawn
from smoothpl.nets.with_heads import WithHeads

CHANCE = {"heads": torch.tensor([7])}
IMAGES = torch.randn(4, 3, 16, 16, generator=torch.Generator().manual_seed(0))


def stochastic(deviation: float) -> WithHeads:
    torch.manual_seed(0)
    heads = {"stochastic": lambda dim, classes: Stochastic(dim, classes, deviation)}
    return WithHeads(WideResNet(num_classes=5, depth=10, width=1), heads, num_classes=5)


def test_the_last_layer_has_weights_of_its_own_in_every_draw_and_they_are_those_of_all_views() -> None:
    network = stochastic(0.3)
    seen = disturbed(network, look(network, {"weak": IMAGES, "strong": IMAGES}, "joint"), CHANCE)
    last = network.base.classify
    assert isinstance(last, torch.nn.Linear)
    for draw in (0, 1):
        weight = last.weight + 0.3 * normal(CHANCE["heads"], last.weight.shape, draw)
        for view in seen.values():
            assert view.features is not None
            logits = drawn(network, "stochastic", view, CHANCE["heads"], draw)
            torch.testing.assert_close(logits, view.features @ weight.T + last.bias)
            assert logits.equal(view.logits) == (draw == 0)


def test_whoever_uses_the_network_has_the_mean_alone() -> None:
    network = stochastic(0.3).eval()
    assert network(IMAGES).equal(stochastic(0.0).eval()(IMAGES))


def test_without_deviations_every_draw_is_the_mean_to_the_bit() -> None:
    network = stochastic(0.0)
    plain = look(network, {"weak": IMAGES}, "joint")
    assert disturbed(network, plain, CHANCE)["weak"].logits.equal(plain["weak"].logits)


def test_on_features_noise_is_divided_by_the_temperature_of_the_weights() -> None:
    head = LinearHead(6, 3)
    head.standardise_by(torch.ones(6), torch.full((6,), 2.0))
    head.loss_temperature.fill_(4.0)
    network = WithHeads(head, {"stochastic": Stochastic}, num_classes=3)
    vectors = torch.randn(4, 6)
    seen = disturbed(network, look(network, {"weak": vectors}, "joint"), CHANCE)["weak"]
    weight = 0.02 * normal(CHANCE["heads"], (3, 6))
    torch.testing.assert_close(seen.logits, (vectors - 1) / 2 @ weight.T / 4)


def test_deviations_below_zero_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"deviation=-1 must be a number from 0 up"):
        Stochastic(4, 3, deviation=-1)
