import pytest
import torch
from torch import Tensor

from smoothpl.data import digits
from smoothpl.data.views.operations import PIXEL_OPERATIONS, luma
from tests.support.images import in_memory
from tests.support.pillow import by_pillow, from_pillow, pillow
from tests.support.real import needs_cifar10, real_cifar10

# Wider than any views we ship: from nothing to almost twice as much, and every threshold and number of bits.
RANGES = {"posterize": (1, 9), "solarize": (0, 257)}
BEYOND = (0.0, 1.9)


def over_the_range(name: str, count: int) -> Tensor:
    low, high = RANGES.get(name, BEYOND)
    return torch.linspace(low, high, count + 1)[:count]


def integers(low: int, high: int, *dims: int) -> Tensor:
    return torch.randint(low, high, dims, dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


ODD_IMAGES = {
    "noise": integers(0, 256, 64, 3, 32, 32),
    "flat": torch.arange(0, 256, 4).view(-1, 1, 1, 1).expand(64, 3, 32, 32).to(torch.uint8),
    "two values": integers(0, 2, 64, 3, 32, 32) * 200,
    "nearly flat": integers(100, 103, 64, 3, 32, 32),
    "wide": integers(0, 256, 64, 3, 5, 50),
    "large": integers(0, 256, 8, 3, 224, 224),
    "one pixel": integers(0, 256, 64, 3, 1, 1),
    "grey": in_memory(digits().train).images[:64],
}


@needs_cifar10
@pytest.mark.parametrize("name", PIXEL_OPERATIONS)
def test_pixel_operations_are_pillows_to_the_bit_on_photographs(name: str) -> None:
    images = in_memory(real_cifar10().train).images[:2000]
    value = over_the_range(name, len(images))
    assert torch.equal(PIXEL_OPERATIONS[name](images, value), by_pillow(name, images, value))


@pytest.mark.parametrize("name", PIXEL_OPERATIONS)
@pytest.mark.parametrize("kind", ODD_IMAGES)
def test_pixel_operations_are_pillows_to_the_bit_on_odd_images(name: str, kind: str) -> None:
    images = ODD_IMAGES[kind]
    value = over_the_range(name, len(images))
    assert torch.equal(PIXEL_OPERATIONS[name](images, value), by_pillow(name, images, value))


@pytest.mark.parametrize("name", PIXEL_OPERATIONS)
def test_an_operation_leaves_its_input_alone(name: str) -> None:
    images = torch.randint(256, (4, 3, 8, 8), dtype=torch.uint8)
    before = images.clone()
    PIXEL_OPERATIONS[name](images, torch.tensor([1.0, 1.5, 1.2, 1.9]))
    assert torch.equal(images, before)


def test_autocontrast_stretches_every_possible_range_as_pillow_does() -> None:
    """All pairs of darkest and brightest value, where Pillow's float64 rounds one way or the other."""
    low, high = torch.triu_indices(256, 256, offset=1)
    ramp = torch.linspace(0, 1, 64)
    images = (low.unsqueeze(1) + (high - low).unsqueeze(1) * ramp).round().to(torch.uint8).view(-1, 1, 8, 8)
    some = images[:: len(images) // 3000]
    zero = torch.zeros(len(some))
    assert torch.equal(PIXEL_OPERATIONS["autocontrast"](some, zero), by_pillow("autocontrast", some, zero))


def test_luma_weighs_colours_as_pillow_does() -> None:
    colours = torch.randint(256, (1, 3, 64, 64), dtype=torch.uint8)
    assert torch.equal(luma(colours)[0].byte(), from_pillow(pillow(colours[0]).convert("L"), 1))
