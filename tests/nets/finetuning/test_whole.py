from copy import deepcopy

import pytest
import torch

from smoothpl.errors import ConfigError
from tests.nets.finetuning.making import IMAGES, MODES, learn, whole
from tests.support.small_nets import small


@pytest.mark.parametrize("mode", MODES)
def test_before_it_learns_it_is_the_backbone_and_the_head(mode: str) -> None:
    network = whole("resnet", mode)
    pixels = IMAGES.contiguous(memory_format=torch.channels_last)
    with torch.no_grad():
        assert torch.equal(network.train()(IMAGES), network.head(small("resnet")(pixels)))


@pytest.mark.parametrize("mode", MODES)
def test_statistics_of_normalisation_stay_as_they_are(mode: str) -> None:
    network = whole("resnet", mode).train()
    learn(network)
    before = dict(small("resnet").named_buffers())
    after = network.finished().named_buffers()
    assert all(torch.equal(value, before[name]) for name, value in after)


@pytest.mark.parametrize("mode", MODES)
def test_a_checkpoint_holds_what_has_learned_and_nothing_that_has_not(mode: str) -> None:
    network = whole("transformer", mode)
    learned = {name for name, each in network.named_parameters() if each.requires_grad}
    of_head = {f"head.{name}" for name, _ in network.head.named_buffers()}
    assert {*network.state_dict()} == learned | of_head | {"origin"}


@pytest.mark.parametrize("mode", MODES)
def test_a_checkpoint_is_enough_to_have_the_network_again(mode: str) -> None:
    network = whole("transformer", mode)
    learn(network)
    fresh = whole("transformer", mode)
    assert not torch.equal(fresh(IMAGES), network(IMAGES))
    for other in (fresh, deepcopy(fresh).requires_grad_(False)):
        other.load_state_dict(network.state_dict())
        assert torch.equal(other(IMAGES), network(IMAGES))


def test_a_copy_leaves_out_what_the_network_leaves_out() -> None:
    network = whole("resnet", "norms")
    average = deepcopy(network).requires_grad_(False)
    assert [*average.state_dict()] == [*network.state_dict()]


def test_a_checkpoint_on_another_backbone_is_refused_in_one_line() -> None:
    network, other = whole("resnet", "norms", digest="ab" * 16), whole("resnet", "norms", digest="cd" * 16)
    with pytest.raises(ConfigError, match=r"^backbone resnet has other weights now than those that were finetuned; "):
        other.load_state_dict(network.state_dict())


def test_a_checkpoint_with_a_missing_tensor_is_not_filled_in() -> None:
    network = whole("resnet", "norms")
    state = network.state_dict()
    state.pop("backbone.bn1.weight")
    with pytest.raises(RuntimeError, match=r"backbone\.bn1\.weight"):
        network.load_state_dict(state)


def test_it_has_the_temperature_of_its_head() -> None:
    network = whole("resnet", "norms")
    network.head.temperature.fill_(0.25)
    assert torch.equal(network.confidences_of(torch.ones(2, 3)), torch.full((2, 3), 4.0))
