"""Views: rotations, shears and translations of images by index maps, equal to Pillow's to the bit.

Pillow reads the nearest pixel at a position in fixed-point arithmetic with 16 fractional bits. The six coefficients are
made here, on the CPU; positions are whole-number arithmetic, which every device does alike.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

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
    padded = functional.pad(images, [1, 1, 1, 1], value=fill)  # whatever reads from outside reads its border
    x = torch.arange(width, dtype=torch.int32, device=images.device)
    y = torch.arange(height, dtype=torch.int32, device=images.device).view(-1, 1)
    m = matrix.view(-1, 6, 1, 1).unbind(1)
    column = ((m[1] * y + (m[2] + ONE)) + m[0] * x).bitwise_right_shift_(16).clamp_(0, width + 1)  # (B, height, width)
    row = ((m[4] * y + (m[5] + ONE)) + m[3] * x).bitwise_right_shift_(16).clamp_(0, height + 1)
    place = row.mul_(width + 2).add_(column).long().flatten(1)
    index = place.unsqueeze(1).expand(-1, images.shape[1], -1)
    return padded.flatten(2).gather(2, index).view_as(images)
