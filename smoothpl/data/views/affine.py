"""Views: rotations, shears and translations of images by index maps, equal to Pillow's to the bit.

Pillow reads the nearest pixel at a position in fixed-point arithmetic with 16 fractional bits. The six coefficients are
made here, on the CPU; positions are whole-number arithmetic, which every device does alike.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

ONE = 1 << 16
Numbers = NDArray[np.float64]


AFFINE_OPERATIONS = ("rotate", "shear_x", "shear_y", "translate_x", "translate_y")


def affine_matrix(operation: str, value: Numbers, height: int, width: int) -> Numbers:
    """value (B,) -> (B, 6): the pixel in column x and row y reads column m0 x + m1 y + m2, row m3 x + m4 y + m5.

    Values are degrees counterclockwise, slopes, or shares of a side to the left and upwards.
    """
    matrix = np.tile([1.0, 0.0, 0.0, 0.0, 1.0, 0.0], (len(value), 1))
    match operation:
        case "rotate":
            angle = -np.radians(value)
            cos, sin = np.round(np.cos(angle), 15), np.round(np.sin(angle), 15)
            x, y = width / 2, height / 2  # the centre stays where it is
            matrix = np.stack([cos, sin, x - cos * x - sin * y, -sin, cos, y + sin * x - cos * y], axis=1)
        case "shear_x":
            matrix[:, 1] = value
        case "shear_y":
            matrix[:, 3] = value
        case "translate_x":
            matrix[:, 2] = np.floor(value * width + 0.5)
        case "translate_y":
            matrix[:, 5] = np.floor(value * height + 0.5)
    return matrix


def fixed_point(matrix: Numbers) -> NDArray[np.int32]:
    """(..., 6) -> (..., 6), rounded as Pillow does."""
    centred = matrix.copy()
    centred[..., 2] += matrix[..., 0] * 0.5 + matrix[..., 1] * 0.5  # from corners to the middle of pixels
    centred[..., 5] += matrix[..., 3] * 0.5 + matrix[..., 4] * 0.5
    return np.floor(centred * ONE + 0.5).astype(np.int32)


def resample(images: Tensor, matrix: Tensor, fill: int) -> Tensor:
    """images (B, channels, height, width) uint8, matrix (B, 6) in fixed point; `fill` beyond the border."""
    height, width = images.shape[-2:]
    x = torch.arange(width, dtype=torch.int32, device=images.device)
    y = torch.arange(height, dtype=torch.int32, device=images.device).view(-1, 1)
    m = matrix.view(-1, 6, 1, 1).unbind(1)
    column = ((m[1] * y + m[2]) + m[0] * x) >> 16  # (B, height, width)
    row = ((m[4] * y + m[5]) + m[3] * x) >> 16
    # A sign bit anywhere means outside; gathering the four is much faster than comparing four times.
    inside = ((column | row | (width - 1 - column) | (height - 1 - row)) >> 31).bitwise_not_()  # -1 or 0
    place = row.mul_(width).add_(column).bitwise_and_(inside).long()
    result = images.flatten(2).gather(2, place.flatten(1).unsqueeze(1).expand(-1, images.shape[1], -1)).view_as(images)
    mask = inside.to(torch.uint8).unsqueeze(1)  # 255 or 0
    result.bitwise_and_(mask)
    return result.bitwise_or_(mask.bitwise_not_().bitwise_and_(fill)) if fill else result
