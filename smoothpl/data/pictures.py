"""Images of many sizes, on disk: decoded when they are read, in whatever process reads them."""

import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor
from torch.utils.data import default_collate
from torchvision.io import ImageReadMode, decode_image

from smoothpl.data.frames import Frame
from smoothpl.data.threads import in_threads
from smoothpl.errors import ConfigError

JPEG = b"\xff\xd8\xff"
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM")
"""That Pillow may open: some others would start programs."""
NO_PICTURE = (
    *(ValueError, SyntaxError, EOFError, IndexError, struct.error, UnidentifiedImageError),
    *(Image.DecompressionBombError, Image.DecompressionBombWarning),
)
"""What Pillow says of damaged files."""


class Pictures:
    """Files and their labels."""

    same_size = False

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
            except (ValueError, OSError) as error:
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
    if data[:3].tobytes() != JPEG:
        return decode_by_pillow(path)
    try:
        picture = decode_image(torch.from_numpy(data), ImageReadMode.RGB, apply_exif_orientation=True)
    except RuntimeError:
        return decode_by_pillow(path)  # which finds the better words
    assert isinstance(picture, Tensor)
    return picture


def decode_by_pillow(path: Path) -> Tensor:
    """All but JPEG: torchvision's decoder ends the whole process at some damaged PNGs, and leaves some WebPs lying."""
    try:
        with Image.open(path, formats=FORMATS) as file:
            return from_pillow(file)
    except NO_PICTURE as error:
        raise ValueError(str(error).split(" '")[0].split(" <")[0]) from error
    except OSError as error:
        if error.errno is None:  # Pillow's own word for a file that ends too early
            raise ValueError(str(error)) from error
        raise


def from_pillow(picture: Image.Image) -> Tensor:
    """(3, height, width) uint8, upright."""
    picture = ImageOps.exif_transpose(picture)
    if picture.mode.startswith("I"):  # 16 bits, which Pillow would cut off at 255
        return torch.from_numpy(np.array(picture).astype(np.int32) >> 8).clamp(0, 255).byte().repeat(3, 1, 1)
    return torch.from_numpy(np.array(picture.convert("RGB"))).permute(2, 0, 1).contiguous()


def unreadable(paths: Sequence[Path]) -> Iterator[int]:
    """The numbers of the files that are no pictures."""

    def reads(path: Path) -> bool:
        try:
            decode(path)
        except ValueError:
            return False
        except FileNotFoundError:  # a link that leads nowhere
            return False
        return True

    for number, good in enumerate(in_threads(reads, paths)):
        if not good:
            yield number
