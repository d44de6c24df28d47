"""Images of many sizes, on disk: decoded when they are read, in whatever process reads them."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor
from torch.utils.data import default_collate
from torchvision.io import ImageReadMode, decode_image

from smoothpl.data.frames import Frame
from smoothpl.errors import ConfigError


class Pictures:
    """Files and their labels."""

    def __init__(self, paths: Sequence[Path], labels: Tensor) -> None:
        # One array, not a list of strings: workers share it, and reading it does not write to it (reference counts).
        self.paths = np.array([os.fsencode(path) for path in paths])
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: Tensor, frame: Frame | None, draws: Sequence[Tensor]) -> list[Tensor]:
        """Every picture is decoded once, and framed once for each of the draws."""
        assert frame is not None  # module.py has seen to it
        if not len(index):
            return [torch.empty(0, 3, frame.size, frame.size, dtype=torch.uint8) for _ in draws]
        shown: list[list[Tensor]] = [[] for _ in draws]
        for row, number in enumerate(index.tolist()):
            path = Path(os.fsdecode(self.paths[number]))
            try:
                picture = decode(path)
            except ValueError as error:
                raise ConfigError(
                    f"{path} is not an image that can be read ({error}); mend or remove it, or leave out all such "
                    "files with data.on_bad_image=skip."
                ) from error
            for images, numbers in zip(shown, draws, strict=True):
                images.append(frame(picture, numbers[row]))
        return [default_collate(images) for images in shown]  # in a worker: into memory that is shared, without a copy


def decode(path: Path) -> Tensor:
    """(3, height, width) uint8, upright: grey, palette, CMYK and 16-bit pictures in RGB; transparency is dropped.

    ValueError where there is no picture.
    """
    data = np.fromfile(path, dtype=np.uint8)
    try:
        picture = decode_image(torch.from_numpy(data), ImageReadMode.RGB, apply_exif_orientation=True)
    except (RuntimeError, ValueError):
        return decode_by_pillow(path)
    assert isinstance(picture, Tensor)
    picture = picture[0] if picture.dim() == 4 else picture  # the first of an animation
    return picture if picture.dtype == torch.uint8 else (picture.int() >> 8).to(torch.uint8)


def decode_by_pillow(path: Path) -> Tensor:
    """TIFF, BMP and what else torchvision does not know."""
    try:
        with Image.open(path) as file:
            picture = ImageOps.exif_transpose(file).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(str(error).split(" '")[0].split(" <")[0]) from error
    return torch.from_numpy(np.array(picture)).permute(2, 0, 1).contiguous()


def unreadable(paths: Sequence[Path]) -> Iterator[Path]:
    """Looks at every file; decoding does not hold Python's lock, so that threads share the work."""

    def reads(path: Path) -> bool:
        try:
            decode(path)
        except (ValueError, OSError):
            return False
        return True

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for path, good in zip(paths, threads.map(reads, paths), strict=True):
            if not good:
                yield path
