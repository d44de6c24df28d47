"""Views: SimCLR's, a part of the image in other colours, for terms that compare one image with others."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from smoothpl.data.views.view import View

LUMA = (0.299, 0.587, 0.114)


@dataclass(frozen=True)
class SimCLR(View):
    """Crop, mirror, colour jitter, grey: on a whole batch, each image by chance of its own.

    As in the published pipeline but for two things: the crop keeps the proportions of the image, and colours are
    changed in one order and without a change of hue, which torch cannot do to a batch.
    """

    smallest: float = 0.2  # share of the area
    jitter: float = 0.4
    jitter_probability: float = 0.8
    grey_probability: float = 0.2
    num_draws = 9

    def __call__(self, images: Tensor, plan: Tensor) -> Tensor:
        area, right, down, mirror, jitters, light, contrast, colour, grey = plan.unbind(dim=1)
        side = (self.smallest + (1 - self.smallest) * area).sqrt()
        sign = torch.where(mirror < 0.5, -1.0, 1.0)
        zero, room = torch.zeros_like(side), 1 - side
        rows = [
            torch.stack([side * sign, zero, room * (2 * right - 1)], dim=1),
            torch.stack([zero, side, room * (2 * down - 1)], dim=1),
        ]
        grid = affine_grid(torch.stack(rows, dim=1), list(images.shape), align_corners=False)
        pixels = grid_sample(images.float() / 255, grid, padding_mode="reflection", align_corners=False)
        amount = self.jitter * (jitters < self.jitter_probability)
        pixels = (pixels * by_image(1 + amount * (2 * light - 1))).clamp(0, 1)
        mean = luma(pixels).mean(dim=(1, 2, 3))
        pixels = blend(by_image(mean), pixels, 1 + amount * (2 * contrast - 1))
        pixels = blend(luma(pixels), pixels, 1 + amount * (2 * colour - 1))
        return torch.where(by_image(grey < self.grey_probability), luma(pixels).expand_as(pixels), pixels)


def by_image(values: Tensor) -> Tensor:
    return values.view(-1, 1, 1, 1)


def blend(ground: Tensor, pixels: Tensor, share: Tensor) -> Tensor:
    return (ground + (pixels - ground) * by_image(share)).clamp(0, 1)


def luma(pixels: Tensor) -> Tensor:
    """(B, channels, height, width) -> (B, 1, height, width)."""
    if pixels.shape[1] != len(LUMA):
        return pixels.mean(dim=1, keepdim=True)
    red, green, blue = pixels.unbind(dim=1)
    return (LUMA[0] * red + LUMA[1] * green + LUMA[2] * blue).unsqueeze(1)
