from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from smoothpl.data.wanted import FURTHER_CHANCE, FURTHER_VIEWS
from smoothpl.run import step_memory
from smoothpl.run.build import build_module
from smoothpl.run.step_memory import LiveBytes, kind_of_step, made_up_batch, peak_of_step
from tests.support.composing import composed, options
from tests.support.method_steps import module_and_batches

B, WIDE, NARROW = 1000, 300, 10
SMALL = ("batch_size=4", "max_steps=4")


def test_the_peak_of_two_layers_is_what_one_adds_up_by_hand() -> None:
    """Input, hidden layer before and after the ReLU, logits; then gradients of the logits and of the hidden layer."""
    with FakeTensorMode(), LiveBytes() as memory:
        network = nn.Sequential(nn.Linear(NARROW, WIDE), nn.ReLU(), nn.Linear(WIDE, NARROW))
        parameters = sum(each.numel() for each in network.parameters())
        images = torch.empty(B, NARROW)
        assert memory.live == 4 * (parameters + B * NARROW)
        loss = network(images).square().sum()
        # The sum of squares, the logits, which the square has kept, and the hidden layer after the ReLU.
        assert memory.live == 4 * (parameters + B * (NARROW + WIDE + NARROW) + 1)
        loss.backward()
        at_most = 4 * (2 * parameters + B * (2 * NARROW + 3 * WIDE + 4 * NARROW))
        assert 4 * (parameters + B * 2 * WIDE) < memory.peak <= at_most
        del loss, images
        assert memory.live == 4 * 2 * parameters  # and gradients


def test_views_of_a_tensor_take_nothing_and_what_is_gone_is_gone() -> None:
    with LiveBytes() as memory:
        images = torch.zeros(8, 4)
        halves = [*images.chunk(2), images.T, images.view(-1)]
        assert memory.live == memory.peak == 8 * 4 * 4
        images.add_(1)
        assert memory.peak == 128
        del images, halves
        assert memory.live == 0


@pytest.mark.parametrize("learned", ["strong", "weak"])
def test_a_made_up_batch_is_like_a_real_one(learned: str) -> None:
    """With every view and every chance that any method wants."""
    wanted = [name for name in (*FURTHER_VIEWS, *FURTHER_CHANCE) if learned == "strong" or name != "turn"]
    words = (f"learned_view={learned}", f"views_wanted=[{','.join(wanted)}]", "batch_size=4")
    _, batches = module_and_batches(*words)
    real, made = next(batches), made_up_batch(composed(*words), (1, 8, 8))
    for name in ("labeled", "label", "weak", "strong", "image", "labeled_image"):
        assert kind(getattr(made, name)) == kind(getattr(real, name))
    for ours, theirs in ((made.views, real.views), (made.chance, real.chance)):
        assert {name: kind(each) for name, each in ours.items()} == {name: kind(each) for name, each in theirs.items()}


def kind(tensor: torch.Tensor | None) -> Any:
    return None if tensor is None else (tensor.shape, tensor.dtype)


@pytest.mark.parametrize("method", options("method"))
def test_the_step_of_every_method_can_be_counted_and_leaves_nothing_behind(method: str) -> None:
    config, state = composed(f"method={method}", *SMALL), torch.random.get_rng_state()
    peak = step_memory.count(config)
    assert torch.random.get_rng_state().equal(state)
    parameters = sum(each.numel() for each in build_module(config).network.parameters())
    assert peak > 4 * 4 * parameters  # network, average, gradients, momentum


def test_more_images_take_more_and_fewer_bits_or_parts_or_gradients_less() -> None:
    usual = step_memory.count(composed("batch_size=64"))
    assert step_memory.count(composed("batch_size=128")) == pytest.approx(2 * usual, rel=0.1)
    fewer = [["trainer.precision=bf16-mixed"], ["trainer.precision=bf16-true"], ["accumulate=2"], ["forward=split"]]
    for words in fewer:
        assert 0.45 * usual < step_memory.count(composed("batch_size=64", *words)) < 0.75 * usual
    assert step_memory.count(composed("batch_size=64", "compile=true")) == usual  # counted as it is written


def test_a_step_is_counted_once_for_all_folds_and_thresholds() -> None:
    kinds = {kind_of_step(composed(*words)) for words in ([], ["fold=1"], ["threshold=0.8"], ["method=fixmatch"])}
    assert len(kinds) == 1
    others = [["batch_size=8"], ["trainer.precision=bf16-mixed"], ["method=vat"], ["net=wrn_28_2"], ["data=cifar10"]]
    assert len({kind_of_step(composed(*words)) for words in others} | kinds) == 1 + len(others)


def test_what_cannot_be_known_without_the_data_is_not_counted() -> None:
    assert kind_of_step(composed("data.source._target_=builtins.print")) is None
    assert peak_of_step(composed("net._target_=nowhere.Net")) is None
