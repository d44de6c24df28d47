"""Views: cutout, a rectangle of one colour that hides a part of the image."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from smoothpl.data.views.operations import luma
from smoothpl.data.views.view import View


@dataclass(frozen=True)
class RandomCutout(View):
    """A square of random side, up to the share `largest` of the width, as the paper's codebase draws it.

    Its quirks are kept: centres are never in the first pixel, and a square that begins beyond the left or upper border
    is pushed inside instead of cut; it covers its last row and column too.
    """

    largest: float = 0.5
    colour: Sequence[int] = (125, 123, 114)
    num_draws = 3

    def __post_init__(self) -> None:
        if not 0 <= self.largest <= 1:
            raise ValueError(f"largest={self.largest} of a cutout (views) must lie in [0, 1].")
        check_colour(self.colour)

    def plan(self, draws: Tensor, dims: torch.Size) -> Tensor:
        height, width = dims[-2:]
        side, x, y = draws.double().unbind(1)
        side = self.largest * width * side
        left = (width + (1 - width) * x - side / 2).clamp(min=0).floor()
        top = (height + (1 - height) * y - side / 2).clamp(min=0).floor()
        nothing = side <= 0
        right = torch.where(nothing, -1, left + side)
        bottom = torch.where(nothing, -1, top + side)
        return torch.stack([left, top, right, bottom], dim=1).floor().to(torch.int32)

    def __call__(self, images: Tensor, plan: Tensor) -> Tensor:
        return cover(images, plan, self.colour)


@dataclass(frozen=True)
class Cutout(View):
    """A square of one side, centred on any pixel and cut at the borders, as Google's FixMatch draws it."""

    side: int = 16
    colour: Sequence[int] = (128, 128, 128)
    num_draws = 2

    def __post_init__(self) -> None:
        if self.side < 0 or self.side % 2:
            raise ValueError(f"side={self.side} of a cutout (views) must be an even number of pixels.")
        check_colour(self.colour)

    def plan(self, draws: Tensor, dims: torch.Size) -> Tensor:
        height, width = dims[-2:]
        half = self.side // 2
        start = (draws.double() * torch.tensor([width, height])).floor() - half
        return torch.cat([start, start + 2 * half - 1], dim=1).to(torch.int32)

    def __call__(self, images: Tensor, plan: Tensor) -> Tensor:
        return cover(images, plan, self.colour)


def check_colour(colour: Sequence[int]) -> None:
    if len(colour) not in (1, 3) or not all(0 <= value <= 255 for value in colour):
        raise ValueError(f"colour={list(colour)} of a cutout (views) must be 1 or 3 numbers from 0 to 255.")


def cover(images: Tensor, boxes: Tensor, colour: Sequence[int]) -> Tensor:
    """boxes (B, 4): left, top, right and bottom, all covered; they may reach beyond the image."""
    height, width = images.shape[-2:]
    x = torch.arange(width, dtype=torch.int32, device=images.device)
    y = torch.arange(height, dtype=torch.int32, device=images.device)
    left, top, right, bottom = boxes.unsqueeze(2).unbind(1)
    columns = ((x >= left) & (x <= right)).to(torch.uint8)
    rows = ((y >= top) & (y <= bottom)).to(torch.uint8)
    covered = (rows.unsqueeze(2) * columns.unsqueeze(1)).unsqueeze(1)
    # Products of whole planes, channel by channel: several times faster than a mask, and no copy from the host.
    result = images * (1 - covered)
    for channel, value in enumerate(in_channels(tuple(colour), images.shape[1])):
        result[:, channel : channel + 1].add_(covered, alpha=value)
    return result


@cache
def in_channels(colour: tuple[int, ...], channels: int) -> list[int]:
    """A colour for grey images is as bright as it looks."""
    if channels == 1 and len(colour) == 3:
        return [int(luma(torch.tensor(colour, dtype=torch.uint8).view(1, 3, 1, 1)))]
    return list(colour) * (channels // len(colour))
