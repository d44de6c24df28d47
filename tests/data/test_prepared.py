import pickle
from typing import Any

import pytest
import torch
from hydra.utils import instantiate
from torch import Tensor

from smoothpl.data.prepared import PreparedViews, prepared
from smoothpl.data.views import Views
from tests.support.composing import composed
from tests.support.small_nets import encoder


def views(*words: str) -> Views:
    found: Any = instantiate(composed(*words).views, _convert_="all")
    assert isinstance(found, Views)
    return found


@pytest.fixture
def bytes_of_images() -> Tensor:
    return torch.randint(0, 256, (4, 3, 21, 30), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("scale", ["bytes", "floats"])
def test_pixels_are_brought_to_the_backbone_as_where_features_are_made(bytes_of_images: Tensor, scale: str) -> None:
    pixels = bytes_of_images if scale == "bytes" else bytes_of_images.float() / 255
    backbone = encoder("resnet")
    found = prepared(views("data=cifar10"), backbone).normalise(pixels)
    assert found.shape == (4, 3, 16, 16)
    assert torch.equal(found, backbone.prepare(pixels))


def test_views_of_bytes_and_of_floats_come_to_one_scale(bytes_of_images: Tensor) -> None:
    """A weak view gives bytes, a strong one may give floats; a step joins them."""
    own = prepared(views("data=cifar10"), encoder("resnet", size=21))
    square = bytes_of_images[..., :21]
    torch.testing.assert_close(own.normalise(square), own.normalise(square.float() / 255))


def test_the_views_themselves_stay_as_they_are() -> None:
    before = views("data=cifar10")
    after = prepared(before, encoder("resnet"))
    assert (after.weak, after.strong, after.learned) == (before.weak, before.strong, before.learned)
    assert (after.frame, after.test_frame) == (before.frame, before.test_frame)


def test_people_see_the_pixels_again(bytes_of_images: Tensor) -> None:
    own = prepared(views("data=cifar10"), encoder("resnet", size=21))
    square = bytes_of_images[..., :21]
    torch.testing.assert_close(own.as_pixels(own.normalise(square)), square / 255, atol=1e-5, rtol=0)


def test_processes_that_read_images_do_not_get_the_network() -> None:
    backbone = encoder("resnet")
    own = prepared(views("data=cifar10"), backbone)
    assert isinstance(own, PreparedViews)
    assert not list(own.preparation.parameters())
    assert list(backbone.network.parameters())
    assert len(pickle.dumps(own)) < 20_000
