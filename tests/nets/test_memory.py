import pytest
import torch
from omegaconf import OmegaConf

from smoothpl.errors import ConfigError
from smoothpl.nets.build import build_network
from smoothpl.nets.memory import check_parameters, kept, kept_per_image, num_parameters, sketch
from tests.support.composing import composed

NETS = {
    "wrn_10_1": ("data=cifar10", "net=wrn_10_1"),
    "wrn_28_2": ("data=cifar10", "net=wrn_28_2"),
    "resnet18": ("data=cifar10", "net=torchvision/resnet18"),
}


@pytest.mark.parametrize("words", NETS.values(), ids=NETS)
def test_a_sketch_keeps_what_the_network_keeps_and_takes_no_chance_from_it(words: tuple[str, ...]) -> None:
    net, state = composed(*words).net, torch.random.get_rng_state()
    drawn = sketch(net)
    assert drawn is not None
    kept_by_one = kept_per_image(drawn, 3, 32, 32)
    assert torch.equal(torch.random.get_rng_state(), state)
    real = build_network(net)
    assert num_parameters(drawn) == num_parameters(real)
    of_two, of_four = (kept(real, torch.zeros(number, 3, 32, 32)) for number in (2, 4))
    assert kept_by_one == pytest.approx((of_four - of_two) / 2, rel=0.05)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["net.width=100000"], r"net\.width=100000 .*: a network of 739,8.* parameters takes 2,959 TB"),
        (
            ["net=wrn_28_2", "net.num_classes=10000000000"],
            r"net\.num_classes=10000000000: a network of 1,290,.* parameters",
        ),
        (["data=cifar10", "net=torchvision/resnet18", "net.num_classes=10000000000"], r"net\.name=resnet18 "),
    ],
)
def test_a_network_that_no_memory_holds_is_refused_before_it_is_built(words: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build_network(composed(*words).net)


def test_a_network_of_ones_own_is_not_built_twice() -> None:
    own = OmegaConf.create({"_target_": "nowhere.Net", "width": 100000})
    check_parameters(own)
    assert sketch(own) is None
