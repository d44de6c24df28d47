"""Views: what the network sees of an image. A view is a pure function of the image and of a few uniform numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Literal, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from smoothpl.data.batches import Batch, RawStep


class View(Protocol):
    """Turns uint8 pixels into float pixels in [0, 1], image by image, the whole batch at once."""

    @property
    def num_draws(self) -> int:
        """How many uniform numbers in [0, 1) one image consumes."""

    def __call__(self, images: Tensor, draws: Tensor) -> Tensor:
        """images (B, channels, height, width) uint8, draws (B, num_draws) -> float, same dims."""


@dataclass(frozen=True)
class Shift:
    """Moves an image by up to `fraction` of its side, in any direction, between the pixels too."""

    fraction: float = 0.125
    num_draws = 2

    def __post_init__(self) -> None:
        refuse_negative(self)

    def __call__(self, images: Tensor, draws: Tensor) -> Tensor:
        # Grid coordinates run from -1 to 1: a whole side is 2.
        offset = 2 * self.fraction * (2 * draws - 1)
        identity = torch.eye(2, device=images.device).expand(len(images), 2, 2)
        return resample(images, identity, offset)


@dataclass(frozen=True)
class Distort:
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

    def __call__(self, images: Tensor, draws: Tensor) -> Tensor:
        signed = 2 * draws - 1
        angle = math.radians(self.rotation) * signed[:, 0]
        stretch = 1 + self.scale * signed[:, 1]
        cos, sin = torch.cos(angle) / stretch, torch.sin(angle) / stretch
        rows = [torch.stack([cos, self.shear * signed[:, 2] - sin], dim=1), torch.stack([sin, cos], dim=1)]
        pixels = resample(images, torch.stack(rows, dim=1), 2 * self.shift * signed[:, 3:5])
        pixels = (pixels * (1 + self.contrast * signed[:, 5]).view(-1, 1, 1, 1)).clamp(max=1)
        return pixels.masked_fill(squares(draws[:, 6:9], images.shape[-2:], self.cutout), 0)


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


@dataclass(frozen=True)
class Views:
    """The two views of a benchmark, on the network's scale: zero mean, unit deviation over the training images.

    `learned` names the view that learns the pseudo-label: strong (FixMatch), weak (Pseudo-Labeling), or none.
    """

    weak: View
    strong: View
    mean: Sequence[float]
    std: Sequence[float]
    learned: Literal["weak", "strong"] | None = "strong"

    def of_step(self, step: RawStep) -> Batch:
        """Runs on whatever device the step is on; the chance in it was drawn beforehand."""
        return Batch(
            labeled=self.normalise(self.weak(step.labeled, step.labeled_draws)),
            label=step.label,
            weak=self.normalise(self.weak(step.unlabeled, step.weak_draws)),
            strong=self.normalise(self.strong(step.unlabeled, step.strong_draws)) if self.learned == "strong" else None,
            image=step.image,
        )

    def of_test(self, images: Tensor) -> Tensor:
        return self.normalise(images.float() / 255)

    def normalise(self, pixels: Tensor) -> Tensor:
        mean, std = (per_channel(tuple(values), pixels.device) for values in (self.mean, self.std))
        return (pixels - mean) / std


@cache
def per_channel(values: tuple[float, ...], device: torch.device) -> Tensor:
    """Made once per device: a copy from the host in every step would make it wait."""
    return torch.tensor(values, device=device).view(-1, 1, 1)
