"""From the bytes of a file to pixels: JPEG by torchvision, everything else by Pillow."""

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError
from pillow_heif import register_heif_opener
from torch import Tensor

from smoothpl.data.depth import FIRST_PAGE, check_colours, has_pages, is_deep, levels_of, stated_by
from smoothpl.data.jpeg import decode_jpeg

register_heif_opener()

JPEG = b"\xff\xd8\xff"
FRAME_HEADERS = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG, after which height and width follow."""
SEGMENTS = {0xC4, 0xCC, *range(0xDB, 0xFF)}
"""Markers after which a length follows, and something to skip."""
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM", "AVIF", "HEIF")
"""What Pillow may open: some other formats would start programs."""
MOST_PIXELS = Image.MAX_IMAGE_PIXELS or 2**26
"""The largest image that is decoded: a file of a few kilobytes can unpack to gigabytes. Pillow warns from here on."""
MOST_BYTES = 2**30
"""The largest file that is read: twice as many as MOST_PIXELS take without compression, in colours of 16 bits."""
NO_PICTURE = (
    *(ValueError, SyntaxError, EOFError, IndexError, RuntimeError, struct.error, UnidentifiedImageError),
    *(Image.DecompressionBombError, Image.DecompressionBombWarning),
)
"""What Pillow raises for damaged files."""


class Decoding(NamedTuple):
    """pixels (3, height, width) uint8, upright, and what a person should know of how they came about."""

    pixels: Tensor
    remarks: tuple[str, ...] = ()


def decode(path: Path, most_pixels: int | None = None) -> Tensor:
    """(3, height, width) uint8, upright: grey, palette, CMYK and deeper pictures in RGB; transparency is dropped.

    ValueError for a file that is not a picture, or has more than `most_pixels`.
    """
    return decode_with_remarks(path, most_pixels).pixels


def decode_safely(path: Path) -> Tensor:
    """For files of strangers, whose headers may claim more pixels than any real image has."""
    return decode(path, MOST_PIXELS)


def decode_with_remarks(path: Path, most_pixels: int | None = None) -> Decoding:
    data = read_bytes(path)
    if most_pixels is not None:
        width, height = jpeg_dims(data) or dims_of(BytesIO(data))
        if width * height > most_pixels:
            raise ValueError(f"{width} x {height} pixels, where at most {most_pixels:,} are read")
    if not data.startswith(JPEG):
        return decode_by_pillow(data)
    try:
        return Decoding(decode_jpeg(data))
    except RuntimeError:
        return decode_by_pillow(data)  # whose messages are clearer


def read_bytes(path: Path) -> bytearray:
    with open(path, "rb", buffering=0) as file:  # faster than by way of the path, which counts for small ones
        size = os.fstat(file.fileno()).st_size
        if size > MOST_BYTES:
            raise ValueError(f"has {size / 1e9:,.1f} GB, where at most {MOST_BYTES / 1e9:.1f} are read")
        return bytearray(file.readall())


def decode_by_pillow(data: bytearray) -> Decoding:
    """For all but JPEG: torchvision's decoders end the whole process at some damaged PNGs, and do not turn WebPs
    upright."""
    with opened(BytesIO(data)) as picture:
        pages = (FIRST_PAGE,) if has_pages(picture) else ()
        pixels, remarks = read_pillow(picture)
        return Decoding(pixels, (*remarks, *pages))


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
        raise ValueError(" ".join(str(error).split(" '")[0].split(" <")[0].split())) from error  # on one line
    except OSError as error:
        if error.errno is None:  # how Pillow says that a file ends too early
            raise ValueError(str(error)) from error
        raise


def from_pillow(picture: Image.Image) -> Tensor:
    """(3, height, width) uint8, upright."""
    return read_pillow(picture).pixels


def read_pillow(picture: Image.Image) -> Decoding:
    stated = stated_by(picture)
    picture = ImageOps.exif_transpose(picture)
    if is_deep(picture):
        grey, remark = levels_of(np.array(picture), stated)
        return Decoding(torch.from_numpy(grey).repeat(3, 1, 1), (remark,) if remark else ())
    colours = np.array(picture.convert("RGB"))
    check_colours(colours, stated)
    return Decoding(torch.from_numpy(colours).permute(2, 0, 1).contiguous())
