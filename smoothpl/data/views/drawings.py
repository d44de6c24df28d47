"""Views of grey drawings on an empty ground, such as digits: moved and distorted between the pixels.

Between the pixels means in floats: another device may differ in the last bit, where the views of photographs do not.
"""

import math
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor
from torch.nn import functional

from smoothpl.data.views.view import View


@dataclass(frozen=True)
class Shift(View):
    """Moves an image by up to `fraction` of its side, in any direction, between the pixels too."""

    fraction: float = 0.125
    num_draws = 2

    def __post_init__(self) -> None:
        refuse_negative(self)

    def __call__(self, images: Tensor, plan: Tensor) -> Tensor:
        # Grid coordinates run from -1 to 1: a whole side is 2.
        offset = 2 * self.fraction * (2 * plan - 1)
        identity = torch.eye(2, device=images.device).expand(len(images), 2, 2)
        return resample(images, identity, offset)


@dataclass(frozen=True)
class Distort(View):
    """Rotates, shears, scales and shifts, changes the contrast, and cuts out a square; each by a random amount.

    What RandAugment is to photographs, for grey drawings on an empty ground: no operation can turn one digit into
    another (so no flips, and no rotation that makes a 6 a 9).
    """

    rotation: float = 30.0  # degrees
    shear: float = 0.3
    scale: float = 0.2
    shift: float = 0.1  # of the side
    contrast: float = 0.5
    cutout: float = 0.5  # of the side, at most
    num_draws = 9

    def __post_init__(self) -> None:
        refuse_negative(self)

    def milder(self) -> "Distort":
        """By half of every amount: it has no operations of which one could be taken."""
        return replace(self, **{each.name: getattr(self, each.name) / 2 for each in fields(self)})

    def __call__(self, images: Tensor, plan: Tensor) -> Tensor:
        signed = 2 * plan - 1
        angle = math.radians(self.rotation) * signed[:, 0]
        stretch = 1 + self.scale * signed[:, 1]
        cos, sin = torch.cos(angle) / stretch, torch.sin(angle) / stretch
        rows = [torch.stack([cos, self.shear * signed[:, 2] - sin], dim=1), torch.stack([sin, cos], dim=1)]
        pixels = resample(images, torch.stack(rows, dim=1), 2 * self.shift * signed[:, 3:5])
        pixels = (pixels * (1 + self.contrast * signed[:, 5]).view(-1, 1, 1, 1)).clamp(max=1)
        return pixels.masked_fill(squares(plan[:, 6:9], images.shape[-2:], self.cutout), 0)


def refuse_negative(view: Shift | Distort) -> None:
    for each in fields(view):
        value = getattr(view, each.name)
        if not isinstance(value, int | float) or not value >= 0:
            raise ValueError(f"{each.name}={value} of {type(view).__name__} (views) must be a number from 0 up.")


def resample(images: Tensor, matrix: Tensor, offset: Tensor) -> Tensor:
    """Reads every image at `matrix @ position + offset`, matrix (B, 2, 2), offset (B, 2); empty beyond the border."""
    size, (height, width) = len(images), images.shape[-2:]
    identity = torch.eye(2, 3, device=images.device).unsqueeze(0)
    positions = functional.affine_grid(identity, [1, 1, height, width], align_corners=False).view(1, -1, 2)
    # One grid turned for every image: affine_grid itself refuses an empty batch, which labels alone have.
    grid = (positions @ matrix.mT + offset.unsqueeze(1)).view(size, height, width, 2)
    return functional.grid_sample(images.float() / 255, grid, align_corners=False)


def squares(draws: Tensor, dims: torch.Size, largest: float) -> Tensor:
    """draws (B, 3) -> a mask (B, 1, height, width) of one square per image, of random side and centre."""
    height, width = dims
    half = draws[:, 0] * largest * height / 2
    rows = torch.arange(height, device=draws.device) + 0.5
    columns = torch.arange(width, device=draws.device) + 0.5
    in_rows = (rows - height * draws[:, 1:2]).abs() < half.unsqueeze(1)
    in_columns = (columns - width * draws[:, 2:3]).abs() < half.unsqueeze(1)
    return (in_rows.unsqueeze(2) & in_columns.unsqueeze(1)).unsqueeze(1)
