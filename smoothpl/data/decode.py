"""From the bytes of a file to pixels: JPEG by torchvision, everything else by Pillow."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor

from smoothpl.data.jpeg import decode_jpeg

JPEG = b"\xff\xd8\xff"
FRAME_HEADERS = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG, after which height and width follow."""
SEGMENTS = {0xC4, 0xCC, *range(0xDB, 0xFF)}
"""Markers after which a length follows, and something to skip."""
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM")
"""What Pillow may open: some other formats would start programs."""
MOST_PIXELS = Image.MAX_IMAGE_PIXELS or 2**26
"""The largest image that is decoded: a file of a few kilobytes can unpack to gigabytes. Pillow warns from here on."""
NO_PICTURE = (
    *(ValueError, SyntaxError, EOFError, IndexError, struct.error, UnidentifiedImageError),
    *(Image.DecompressionBombError, Image.DecompressionBombWarning),
)
"""What Pillow raises for damaged files."""


def decode(path: Path, most_pixels: int | None = None) -> Tensor:
    """(3, height, width) uint8, upright: grey, palette, CMYK and 16-bit pictures in RGB; transparency is dropped.

    ValueError for a file that is not a picture, or has more than `most_pixels`.
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
        return decode_jpeg(data)
    except RuntimeError:
        return decode_by_pillow(data)  # whose messages are clearer


def decode_safely(path: Path) -> Tensor:
    """For files of strangers, whose headers may claim more pixels than any real image has."""
    return decode(path, MOST_PIXELS)


def decode_by_pillow(data: bytearray) -> Tensor:
    """For all but JPEG: torchvision's decoders end the whole process at some damaged PNGs, and do not turn WebPs
    upright."""
    with opened(BytesIO(data)) as picture:
        return from_pillow(picture)


def jpeg_dims(data: bytearray) -> tuple[int, int] | None:
    """Width and height in the header of an ordinary JPEG; None means: ask Pillow, which takes half as long as decoding
    a small one."""
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
    """Opens by Pillow; ValueError for files that are not pictures."""
    try:
        with Image.open(file, formats=FORMATS) as picture:
            yield picture
    except NO_PICTURE as error:
        raise ValueError(str(error).split(" '")[0].split(" <")[0]) from error
    except OSError as error:
        if error.errno is None:  # how Pillow says that a file ends too early
            raise ValueError(str(error)) from error
        raise


def from_pillow(picture: Image.Image) -> Tensor:
    """(3, height, width) uint8, upright."""
    picture = ImageOps.exif_transpose(picture)
    if picture.mode.startswith("I"):  # 16 bits, which Pillow would clip at 255
        return torch.from_numpy(np.array(picture).astype(np.int32) >> 8).clamp(0, 255).byte().repeat(3, 1, 1)
    return torch.from_numpy(np.array(picture.convert("RGB"))).permute(2, 0, 1).contiguous()
