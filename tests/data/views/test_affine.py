import numpy as np
import pytest
import torch
from torch import Tensor

from smoothpl.data.views.affine import AFFINE_OPERATIONS, affine_matrix, fixed_point, resample
from tests.support.images import in_memory
from tests.support.pillow import by_pillow
from tests.support.real import needs_cifar10, real_cifar10

RANGES = {"rotate": (-180.0, 180.0)}
BEYOND = (-0.6, 0.6)


def moved(name: str, images: Tensor, value: Tensor, fill: int = 0) -> Tensor:
    matrix = affine_matrix(name, value.double().numpy(), *images.shape[-2:])
    return resample(images, torch.from_numpy(fixed_point(matrix)), fill)


def over_the_range(name: str, count: int) -> Tensor:
    low, high = RANGES.get(name, BEYOND)
    return torch.linspace(low, high, count)


@needs_cifar10
@pytest.mark.parametrize("name", AFFINE_OPERATIONS)
def test_geometric_operations_are_pillows_to_the_bit_on_photographs(name: str) -> None:
    """No pixel differs, not even at sampling boundaries: positions are Pillow's fixed-point numbers."""
    images = in_memory(real_cifar10().train).images[:2000]
    value = over_the_range(name, len(images))
    assert torch.equal(moved(name, images, value), by_pillow(name, images, value))


@pytest.mark.parametrize("name", AFFINE_OPERATIONS)
@pytest.mark.parametrize("dims", [(1, 8, 8), (3, 17, 40), (3, 96, 96), (3, 224, 224), (3, 1, 1)])
def test_geometric_operations_are_pillows_to_the_bit_at_other_sizes(name: str, dims: tuple[int, ...]) -> None:
    images = torch.randint(256, (40, *dims), dtype=torch.uint8)
    value = over_the_range(name, len(images))[1:-1]  # Pillow turns by 180 degrees in another way
    assert torch.equal(moved(name, images[1:-1], value), by_pillow(name, images[1:-1], value))


def test_what_is_beyond_the_border_has_the_colour_asked_for() -> None:
    images = torch.full((1, 3, 8, 8), 255, dtype=torch.uint8)
    shifted = moved("translate_x", images, torch.tensor([0.25]), fill=128)
    assert shifted[0, 0, 0].tolist() == [255] * 6 + [128] * 2


def test_no_movement_is_the_identity() -> None:
    images = torch.randint(256, (5, 3, 9, 7), dtype=torch.uint8)
    for name in AFFINE_OPERATIONS:
        assert torch.equal(moved(name, images, torch.zeros(5)), images)


def test_fixed_point_rounds_to_the_nearest() -> None:
    matrix = np.array([[1.0, 0.3, -2.0, 0.0, 1.0, 0.5]])
    expected = [65536, round(0.3 * 65536), round((-2 + 0.65) * 65536), 0, 65536, round((0.5 + 0.5) * 65536)]
    assert fixed_point(matrix).tolist() == [expected]
