"""Preprocessing: from any image to the pixels that the network sees."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Union

import numpy as np
import torch
from PIL import Image as Pillow
from torch import Tensor

from smoothpl.data.decode import decode_safely, from_pillow
from smoothpl.data.frames import CentralCrop

Image = Union[str, Path, Pillow.Image, "np.ndarray[Any, Any]", Tensor]


class Preparation(NamedTuple):
    """The preprocessing of a classifier; an object of its own, for processes that only decode."""

    frame: CentralCrop
    channels: int

    def __call__(self, image: Image) -> Tensor:
        """-> (channels, size, size) uint8: the middle of the image, as in evaluation."""
        picture = self.frame(as_picture(image), torch.empty(0))
        return shade(picture).byte() if self.channels == 1 else picture


def shade(colours: Tensor) -> Tensor:
    """(..., 3, height, width) -> (..., 1, height, width): grey, rounded as in Pillow.

    torchvision truncates, so that grey would not stay the grey it is.
    """
    red, green, blue = colours.float().unbind(dim=-3)
    found: Tensor = (0.299 * red + 0.587 * green + 0.114 * blue).round()
    return found.unsqueeze(-3)


def several(images: Image | Sequence[Image]) -> Sequence[Image]:
    batched = 4
    if isinstance(images, str | Path | Pillow.Image):
        return [images]
    if isinstance(images, np.ndarray | Tensor):
        return list(images) if images.ndim == batched else [images]
    return images


def as_picture(image: Image) -> Tensor:
    """-> (3, height, width) uint8."""
    if isinstance(image, str | Path):
        return decode_safely(Path(image))
    if isinstance(image, Pillow.Image):
        return from_pillow(image)
    if isinstance(image, np.ndarray):
        image = torch.from_numpy(np.ascontiguousarray(image if image.ndim == 3 else image[..., None])).permute(2, 0, 1)
    if image.ndim != 3 or len(image) not in (1, 3, 4):
        raise ValueError(
            f"an image must be (channels, height, width) in a tensor, (height, width[, channels]) in an array, with 1, "
            f"3 or 4 channels; this one is {tuple(image.shape)}."
        )
    if image.is_floating_point():
        image = (255 * image).round().clamp(0, 255).byte()
    if image.dtype != torch.uint8:
        raise ValueError(f"an image must be of bytes, 0 to 255, or of floats, 0 to 1; this one is of {image.dtype}.")
    image = image.cpu()
    return image.expand(3, -1, -1) if len(image) == 1 else image[:3]
