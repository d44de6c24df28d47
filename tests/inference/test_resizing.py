import pytest
import torch
from torch.nn.functional import interpolate

from smoothpl.inference.resizing import middles, resized, resizing, rounded


def weights_of(length: int, side: int, size: int) -> torch.Tensor:
    places = torch.arange(length, dtype=torch.float64)
    return resizing(places, torch.tensor(float(side), dtype=torch.float64), middles(size))


@pytest.mark.parametrize(("length", "side", "size"), [(8, 8, 8), (20, 20, 7), (21, 9, 5), (9, 9, 30), (50, 1, 4)])
def test_the_weights_are_those_of_torch(length: int, side: int, size: int) -> None:
    """Of a row in which one pixel is white, torch shows its share in every output pixel."""
    first = (length - side) // 2
    rows = torch.eye(length).view(length, 1, 1, length)[..., first : first + side]
    shares = interpolate(rows, (1, size), mode="bilinear", antialias=True, align_corners=False).flatten(1).T
    torch.testing.assert_close(weights_of(length, side, size) / 2**16, shares, atol=1e-4, rtol=0)


def test_a_size_that_is_right_changes_nothing() -> None:
    pixels, weights = torch.randint(256, (2, 3, 9, 9)).float(), weights_of(9, 9, 9)
    assert torch.equal(resized(pixels, weights, weights), pixels)


def test_a_level_is_a_whole_number_from_0_to_255() -> None:
    sums = 2**16 * torch.tensor([-1.0, 0.49, 0.5, 254.5, 300.0])
    assert rounded(sums).tolist() == [0, 0, 1, 255, 255]
