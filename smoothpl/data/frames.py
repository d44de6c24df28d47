"""Views, where images have many sizes: which part of a picture is read, and at what size.

This happens in the workers that decode, one picture at a time; everything else about a view is done to whole batches.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import interpolate


class Frame(ABC):
    """Cuts out a part of a picture and brings it to `size` x `size` pixels."""

    size: int
    num_draws: int

    @abstractmethod
    def box(self, draws: Sequence[float], height: int, width: int) -> tuple[int, int, int, int]:
        """Top, left, height and width of the part."""

    def __call__(self, picture: Tensor, draws: Tensor) -> Tensor:
        """picture (channels, height, width) uint8, draws (num_draws,) -> (channels, size, size)."""
        top, left, height, width = self.box(draws.tolist(), *picture.shape[-2:])
        whole = (height, width) == picture.shape[-2:]
        part = picture if whole else picture[:, top : top + height, left : left + width]
        # What torchvision's resize calls in the end; on the way it takes as long as decoding a small picture.
        dims = (self.size, self.size)
        return interpolate(part.unsqueeze(0), dims, mode="bilinear", antialias=True, align_corners=False).squeeze(0)


@dataclass(frozen=True)
class RandomResizedCrop(Frame):
    """A part of random area and proportions, as torchvision's transform of this name draws it."""

    size: int = 224
    scale: Sequence[float] = (0.08, 1.0)  # of the area
    ratio: Sequence[float] = (3 / 4, 4 / 3)  # width over height
    num_tries = 10
    num_draws = 2 * num_tries + 2

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size={self.size} (views) must be a positive number of pixels.")
        if not 0 < self.scale[0] <= self.scale[1] <= 1:
            raise ValueError(f"scale={list(self.scale)} (views) must be a range within (0, 1]: shares of the area.")
        if not 0 < self.ratio[0] <= self.ratio[1]:
            raise ValueError(f"ratio={list(self.ratio)} (views) must be a range of positive numbers.")

    def box(self, draws: Sequence[float], height: int, width: int) -> tuple[int, int, int, int]:
        low, high = math.log(self.ratio[0]), math.log(self.ratio[1])
        for first, second in zip(draws[0:-2:2], draws[1:-2:2], strict=True):
            area = height * width * (self.scale[0] + (self.scale[1] - self.scale[0]) * first)
            ratio = math.exp(low + (high - low) * second)
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                return int((height - h + 1) * draws[-2]), int((width - w + 1) * draws[-1]), h, w
        # A picture too narrow for any of them: as much of its middle as the proportions allow.
        w, h = width, height
        if width / height < self.ratio[0]:
            h = min(height, max(1, round(width / self.ratio[0])))
        elif width / height > self.ratio[1]:
            w = min(width, max(1, round(height * self.ratio[1])))
        return (height - h) // 2, (width - w) // 2, h, w


@dataclass(frozen=True)
class CentralCrop(Frame):
    """The middle, a square of `share` of the shorter side: how test images are seen."""

    size: int = 224
    share: float = 0.875  # 224 of 256
    num_draws = 0

    def __post_init__(self) -> None:
        if self.size < 1 or not 0 < self.share <= 1:
            raise ValueError(f"size={self.size}, share={self.share} (views): a positive number, and one in (0, 1].")

    def box(self, draws: Sequence[float], height: int, width: int) -> tuple[int, int, int, int]:
        side = max(1, round(self.share * min(height, width)))
        return (height - side) // 2, (width - side) // 2, side, side
