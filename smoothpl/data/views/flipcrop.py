"""Views: a mirror image or not, moved by a few pixels: the weak view of photographs."""

from dataclasses import dataclass

import torch
from torch import Tensor

from smoothpl.data.views.view import View
from smoothpl.errors import ConfigError


@dataclass(frozen=True)
class FlipCrop(View):
    """Mirrors with the given probability, then pads by reflection and crops anywhere: one index map for both."""

    padding: int = 4  # pixels
    flip: float = 0.5
    num_draws = 3

    def __post_init__(self) -> None:
        if self.padding < 0:
            raise ValueError(f"padding={self.padding} (views) must not be negative.")
        if not 0 <= self.flip <= 1:
            raise ValueError(f"flip={self.flip} (views) must lie in [0, 1].")

    def plan(self, draws: Tensor, dims: torch.Size) -> Tensor:
        """-> (B, 3): mirrored or not, and by how many pixels down and right."""
        if self.padding >= min(dims[-2:]):
            raise ConfigError(
                f"padding={self.padding} (views) must be smaller than the image, {min(dims[-2:])} pixels."
            )
        places = 2 * self.padding + 1
        shift = (draws[:, 1:] * places).floor() - self.padding
        return torch.cat([draws[:, :1] < self.flip, shift], dim=1).long()

    def __call__(self, images: Tensor, plan: Tensor) -> Tensor:
        size, channels, height, width = images.shape
        mirrored, down, right = plan.unsqueeze(2).unbind(1)
        row = reflect(torch.arange(height, device=images.device) + down, height)  # (B, height)
        column = reflect(torch.arange(width, device=images.device) + right, width)
        column = column + mirrored * (width - 1 - 2 * column)
        # Whole rows first: they are copied as they lie in memory.
        plane = torch.arange(0, size * channels * height, height, device=images.device).view(size, channels, 1)
        rows = images.reshape(-1, width).index_select(0, (plane + row.unsqueeze(1)).flatten())
        return rows.view_as(images).gather(3, column.view(size, 1, 1, width).expand_as(images))


def reflect(position: Tensor, size: int) -> Tensor:
    """Positions up to one image beyond the border come back inside; the border itself is not repeated."""
    return size - 1 - (size - 1 - position.abs()).abs()
