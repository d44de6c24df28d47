import inspect
from typing import Any

import pytest
import torch
from hydra.utils import get_object
from omegaconf import DictConfig, OmegaConf

import smoothpl.backbones
from smoothpl.backbones import Encoder
from smoothpl.backbones.build import build_encoders, digests_of
from tests.backbones.conftest import made
from tests.support.composing import composed, options

EVERY = [name for name in options("backbone") if name != "none"]
TARGET = "smoothpl.backbones.of_timm"


def backbone(**sizes: int) -> DictConfig:
    parts = {
        name: {"_target_": TARGET, "name": "test_resnet", "weights": "random", "size": "${size}", "crop": 1.0 / number}
        for number, name in enumerate(sizes, 1)
    }
    return OmegaConf.create({"size": next(iter(sizes.values())), "encoders": parts})


@pytest.fixture
def two() -> DictConfig:
    return backbone(first=32, second=32)


def test_encoders_come_in_the_order_of_the_yaml_with_its_values(two: DictConfig) -> None:
    assert [(each.size, each.crop) for each in build_encoders(two)] == [(32, 1.0), (32, 0.5)]


def test_each_is_made_once_in_a_process(two: DictConfig) -> None:
    assert all(a is b for a, b in zip(build_encoders(two), build_encoders(two), strict=True))
    assert build_encoders(two)[0] is not build_encoders(backbone(first=40))[0]


def test_digests_are_known_by_the_names_of_the_yaml(two: DictConfig) -> None:
    first, second = build_encoders(two)
    assert digests_of(two) == {"first": first.digest, "second": second.digest}


def test_making_one_takes_no_random_numbers_of_a_run() -> None:
    before = torch.get_rng_state()
    config = OmegaConf.create({"encoders": {"own": {"_target_": "tests.backbones.test_build.drawing", "seed": 7}}})
    build_encoders(config)
    assert torch.equal(torch.get_rng_state(), before)


def drawing(seed: int) -> Encoder:
    return made(seed=seed)


@pytest.mark.parametrize("name", EVERY)
def test_every_yaml_sets_all_that_its_backbone_can_be_told(name: str) -> None:
    (part,) = composed(f"backbone={name}").backbone.encoders.values()
    make: Any = get_object(part._target_)
    assert part._target_.removeprefix("smoothpl.backbones.") in smoothpl.backbones.__all__
    assert {*part} - {"_target_"} == {*inspect.signature(make).parameters}


def test_several_are_composed_by_their_names() -> None:
    found = composed("backbone=[efficientnet_lite0,efficientnet_lite2]").backbone.encoders
    assert [(name, part.variant, part.size) for name, part in found.items()] == [
        ("efficientnet_lite0", "lite0", 96),
        ("efficientnet_lite2", "lite2", 96),
    ]
