"""Crop and antialiased resize as products of matrices, for exported files: the same in every library, to the bit.

Not every format can express a crop whose place depends on the size of the image, or antialiasing. But both are linear,
and separate for rows and columns: two matrices, built from operations that all formats have. Their weights are whole
numbers, so that every sum is exact in 32 bits, in whatever order another library adds; otherwise pixels that lie
between two levels, and there are many, would be rounded differently.
"""

import torch
from torch import Tensor

ONE = 2.0**16
"""The weights of an output pixel add up to it: 255 times as much is still a whole number in 32 bits."""
HALF = 0.5 + 2**-20
"""A little more, so that a weight between two numbers is rounded up, however it was computed."""


def middles(size: int) -> Tensor:
    """(size, 1): of the output pixels, in pixels."""
    return torch.arange(size, dtype=torch.float64).unsqueeze(1) + 0.5


def resizing(places: Tensor, side: Tensor, middle_of: Tensor) -> Tensor:
    """places (N,) = 0, 1, ..., N - 1, middle_of (size, 1) -> (size, N): the share of each input pixel in each output
    pixel, of ONE, where the `side` pixels in the middle are resized to `size`."""
    first = ((places[-1] + 1 - side) / 2).floor()
    scale = side / len(middle_of)
    middle = first + middle_of * scale
    tent = (1 - (places + 0.5 - middle).abs() / scale.clamp(min=1)).clamp(min=0)
    inside = (places >= first) & (places < first + side)
    weights = tent * inside
    return (ONE * weights / weights.sum(dim=1, keepdim=True) + HALF).floor().float()


def resized(pixels: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """pixels (B, channels, height, width), 0 to 255 -> (B, channels, size, size): rounded after columns and after rows,
    as torch does with bytes."""
    return rounded(rows @ rounded(pixels @ columns.T))


def rounded(sums: Tensor) -> Tensor:
    return ((sums + ONE / 2) / ONE).floor().clamp(0, 255)
