"""Images of many sizes, on disk: decoded when they are read, in whatever process reads them."""

import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor
from torch.utils.data import default_collate
from torchvision.io import ImageReadMode

from smoothpl.data.frames import Frame
from smoothpl.errors import ConfigError
from smoothpl.io.processes import in_processes

RGB, UPRIGHT = ImageReadMode.RGB.value, True
JPEG = b"\xff\xd8\xff"
FRAME_HEADERS = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG, after which height and width follow."""
SEGMENTS = {0xC4, 0xCC, *range(0xDB, 0xFF)}
"""Markers after which a length follows, and something to skip."""
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM")
"""That Pillow may open: some others would start programs."""
MOST_PIXELS = Image.MAX_IMAGE_PIXELS or 2**26
"""Of one image: a file of a few kilobytes can unpack to gigabytes. Pillow begins to warn here."""
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


def decode(path: Path, most_pixels: int | None = None) -> Tensor:
    """(3, height, width) uint8, upright: grey, palette, CMYK and 16-bit pictures in RGB; transparency is dropped.

    ValueError where there is no picture, or one of more than `most_pixels`.
    """
    with open(path, "rb", buffering=0) as file:  # faster than by way of the path, which counts for small ones
        data = bytearray(file.readall())
    if most_pixels is not None:
        width, height = jpeg_dims(data) or dims_of(BytesIO(data))
        if width * height > most_pixels:
            raise ValueError(f"{width} x {height} pixels, where at most {most_pixels:,} are read")
    if not data.startswith(JPEG):
        return decode_by_pillow(data)
    try:
        # What torchvision.io.decode_jpeg calls in the end; on the way it spends a fifth of the time of a small picture.
        picture: Tensor = torch.ops.image.decode_jpeg(torch.frombuffer(data, dtype=torch.uint8), RGB, UPRIGHT)
    except RuntimeError:
        return decode_by_pillow(data)  # which finds the better words
    return picture


def decode_safely(path: Path) -> Tensor:
    """For files of strangers, which may say that they are larger than any image that is meant."""
    return decode(path, MOST_PIXELS)


def decode_by_pillow(data: bytearray) -> Tensor:
    """All but JPEG: torchvision's decoder ends the whole process at some damaged PNGs, and leaves some WebPs lying."""
    with opened(BytesIO(data)) as picture:
        return from_pillow(picture)


def jpeg_dims(data: bytearray) -> tuple[int, int] | None:
    """Width and height in the header of an ordinary JPEG; None: ask Pillow, which takes half as long as decoding a
    small one."""
    at = len(JPEG) - 1
    while data.startswith(JPEG) and data[at : at + 1] == b"\xff" and at + 9 <= len(data):
        marker = data[at + 1]
        if marker in FRAME_HEADERS:
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        if marker not in SEGMENTS:
            return None
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def dims_of(file: Path | BytesIO) -> tuple[int, int]:
    """Width and height, by the header alone."""
    with opened(file) as picture:
        return picture.size


@contextmanager
def opened(file: Path | BytesIO) -> Iterator[Image.Image]:
    """By Pillow; ValueError for what is no picture."""
    try:
        with Image.open(file, formats=FORMATS) as picture:
            yield picture
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
    good = chain.from_iterable(in_processes(are_pictures, paths))
    return (number for number, is_picture in enumerate(good) if not is_picture)


def are_pictures(paths: Sequence[Path]) -> list[bool]:
    return [is_picture(path) for path in paths]


def is_picture(path: Path) -> bool:
    try:
        decode(path)
    except (ValueError, FileNotFoundError):  # or a link that leads nowhere
        return False
    return True
