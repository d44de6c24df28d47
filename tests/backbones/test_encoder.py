import pytest
import torch
from torch import nn
from torchvision.transforms.v2 import functional

from smoothpl.backbones import Encoder
from smoothpl.errors import ConfigError
from tests.backbones.conftest import MEAN, STD, Pooled, images, made


@pytest.mark.parametrize(("height", "width"), [(8, 8), (12, 20), (31, 9), (5, 5)])
@pytest.mark.parametrize("crop", [1.0, 0.875])
def test_pixels_are_prepared_as_torchvision_would(height: int, width: int, crop: float) -> None:
    pixels, side = images(height, width), max(1, round(crop * min(height, width)))
    middle = functional.crop(pixels, (height - side) // 2, (width - side) // 2, side, side)
    small = functional.resize(middle, [8, 8], antialias=True)
    wanted = functional.normalize(functional.to_dtype(small, torch.float32, scale=True), [*MEAN], [*STD])
    assert torch.allclose(made(crop=crop).prepare(pixels), wanted, atol=1e-6)


def test_floats_between_0_and_1_are_the_same_pixels_as_bytes() -> None:
    assert torch.allclose(made().prepare(images(8, 8) / 255), made().prepare(images(8, 8)), atol=1e-6)
    assert torch.allclose(made().prepare(images(20, 16) / 255), made().prepare(images(20, 16)), atol=0.02)


def test_grey_images_are_three_equal_colours() -> None:
    grey = images(10, 10, channels=1)
    assert torch.equal(made().prepare(grey), made().prepare(grey.expand(-1, 3, -1, -1)))


def test_an_image_gets_one_vector_whatever_lies_beside_it() -> None:
    encoder, pixels = made(), images(10, 12)
    vectors = encoder(pixels)
    assert vectors.shape == (4, encoder.dim) == (4, 6)
    assert torch.allclose(encoder(pixels[2:3]), vectors[2:3], atol=1e-6)


def test_the_network_stays_as_it_is() -> None:
    encoder = made()
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    first = encoder(images(8, 8))
    assert torch.equal(encoder.train()(images(8, 8)), first)
    assert not first.requires_grad
    assert not any(parameter.requires_grad for parameter in encoder.parameters())
    assert all(torch.equal(tensor, before[name]) for name, tensor in encoder.state_dict().items())


def test_the_digest_changes_with_all_that_a_vector_depends_on() -> None:
    assert made().digest == made().digest
    others = [made(size=9), made(crop=0.5), made(architecture="other"), made(seed=1)]
    others.append(Encoder(Pooled(), "pooled", "pooled", 8))
    assert len({made().digest, *(each.digest for each in others)}) == 6
    assert len(made().digest) == 32


def test_a_size_that_a_network_does_not_take_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^backbone\.size=4 is a size that large does not take \(.*\); use another"):
        Encoder(nn.Sequential(nn.Conv2d(3, 6, 5), nn.AdaptiveAvgPool2d(1), nn.Flatten()), "large", "large", 4)


def test_a_network_without_vectors_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^maps must give one vector of floats per image, .* \(1, 6, 8, 8\)"):
        Encoder(nn.Conv2d(3, 6, 1), "maps", "maps", 8)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"size": 0}, "size=0 must be a positive number"),
        ({"crop": 0.0}, r"crop=0\.0 must be in \(0, 1\]"),
        ({"crop": 1.1}, r"crop=1\.1 must be in"),
        ({"mean": (0.5,)}, r"mean=\[0\.5\] of a backbone must be three numbers"),
        ({"std": (1, 1, 0)}, r"std=\[1, 1, 0\] of a backbone must be positive"),
    ],
)
def test_preprocessing_that_cannot_be_is_refused(knobs: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Encoder(Pooled(), "pooled", "pooled", **{"size": 8, **knobs})  # type: ignore[arg-type]
