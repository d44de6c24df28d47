from copy import deepcopy
from pathlib import Path

import pytest
import torch

from smoothpl.data import ImageSet, Source
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries
from smoothpl.run.step_time import (
    forecast,
    image_size,
    images_learned,
    images_of_step,
    input_dims,
    seconds_of_step,
    spell,
    time_step,
)
from tests.support.composing import OWN, composed, options

SIDES = {
    "cifar10": 32,
    "cifar100": 32,
    "digits": 8,
    "fashion_mnist": 28,
    "folder": 8,  # data.size of OWN
    "imagenet": 224,
    "stl10": 96,
    "svhn": 32,
}


def tall() -> Source:
    """A source that does not say how large its images are."""
    images = ImageSet(torch.zeros(40, 1, 12, 8, dtype=torch.uint8), torch.arange(40) % 10)
    return Source(images, images, tuple("0123456789"))


@pytest.mark.parametrize("data", options("data"))
def test_the_size_of_images_is_known_without_opening_them(data: str) -> None:
    config = composed(f"data={data}", *(OWN if data == "folder" else ()))
    assert image_size(config) == (SIDES[data], SIDES[data])


def test_a_source_that_does_not_say_is_opened() -> None:
    config = composed()
    config.data.source._target_ = "tests.run.test_step_time.tall"
    assert image_size(config) == (12, 8)
    assert input_dims(config, build_module(composed()).network) == (1, 12, 8)


def test_a_step_is_tried_without_a_trace() -> None:
    config = composed("batch_size=4")
    torch.manual_seed(3)
    network = build_module(config).network
    before, random = deepcopy(network.state_dict()), torch.get_rng_state()
    threads = torch.get_num_threads()
    assert seconds_of_step(config, network) > 0
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    assert all(each.grad is None for each in network.parameters())
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize(("method", "views"), [("smooth", 15), ("pseudo_label", 8), ("supervised", 1)])
def test_a_step_has_as_many_images_as_the_network_sees(tmp_path: Path, method: str, views: int) -> None:
    only = ("max_steps=1", "+trainer.limit_val_batches=0", "callbacks={}", "logger=none")
    config = composed(f"method={method}", "batch_size=4", "unlabeled_ratio=7", *only)
    assert images_of_step(config) == 4 * views
    shown = []
    module = build_module(config)
    module.network.register_forward_pre_hook(lambda _, inputs: shown.append(len(inputs[0])))
    quiet_libraries()
    build_trainer(config, tmp_path).fit(module, datamodule=build_data(config))
    assert sum(shown) == images_of_step(config)


@pytest.mark.parametrize(("precision", "dtype"), [("32-true", torch.float32), ("bf16-mixed", torch.bfloat16)])
def test_a_step_is_tried_in_the_precision_of_the_run(precision: str, dtype: torch.dtype) -> None:
    config, seen = composed("batch_size=1", f"trainer.precision={precision}"), []
    network = build_module(config).network
    network.register_forward_hook(lambda _, __, logits: seen.append(logits.dtype))
    assert time_step(config, network, lambda: float(len(seen))) > 0
    assert {*seen} == {dtype}


def test_a_view_without_a_gradient_is_a_third_of_one_with_it() -> None:
    assert images_learned(composed("batch_size=3", "unlabeled_ratio=7")) == 3 * 15
    assert images_learned(composed("batch_size=3", "unlabeled_ratio=7", "forward=split")) == 3 * (8 + 7 / 3)


def test_a_run_is_told_how_long_it_will_take(monkeypatch: pytest.MonkeyPatch) -> None:
    config = composed("batch_size=4", "max_steps=1000")
    monkeypatch.setattr("smoothpl.run.step_time.seconds_of_step", lambda *_: 0.5)
    network = build_module(config).network
    assert forecast(config, network) == "1,000 steps of 60 images, each 8 x 8 pixels: about 8 minutes on this machine."
    assert forecast(config, network, first_step=900).startswith("100 steps of 60 images")
    assert "about 50 seconds" in forecast(config, network, first_step=900)


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "5 seconds"), (300, "5 minutes"), (8e3, "2 hours"), (1e6, "12 days")]
)
def test_times_are_spelled(seconds: float, text: str) -> None:
    assert spell(seconds) == text
