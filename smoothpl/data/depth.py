"""From numbers of more than eight bits to bytes: by what the file says of them, and else by the numbers themselves.

Scanners and microscopes leave 10, 12 or 14 bits in 16, floats from 0 to 1, or numbers of a scale of their own. Every
file is treated by itself, so that it looks the same in training, in prediction and in an export.
"""

import struct
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

DEPTHS = (8, 10, 12, 14, 16)
"""Bits that sensors have. Few and wide steps: images of one sensor seldom fall into two."""
BITS_PER_SAMPLE, SAMPLE_FORMAT, LOWEST_SAMPLE, HIGHEST_SAMPLE = 258, 339, 340, 341
"""Tags of TIFF. MinSampleValue and MaxSampleValue (280, 281) are statistics, which by TIFF 6.0 must not affect how an
image looks."""
UNSIGNED = 1
DARKEST_COLOURS = 16
"""Levels of 255 that 12 bits in 16 reach at most: Pillow keeps the upper byte of colours, the rest is lost by then."""
BY_FILE, BY_ITSELF = "by the range that the file states", "each by its own lowest and highest value"
FLOATS = "as floats from 0 to 1"
FIRST_PAGE = "first of several pages"
NO_PAGE = (EOFError, OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError, RuntimeError)
Numbers = np.ndarray[Any, Any]


class Levels(NamedTuple):
    """pixels (height, width) uint8, and how they were scaled; nothing if all 16 bits are in use."""

    pixels: Numbers
    remark: str


class Stated(NamedTuple):
    """What a file says of its numbers, read before they are."""

    lowest: float | None = None
    highest: float | None = None
    is_unsigned: bool = False
    has_deep_colours: bool = False


def is_deep(picture: Image.Image) -> bool:
    """Whether it is grey, with more than eight bits."""
    return picture.mode.startswith(("I", "F"))


def stated_by(picture: Image.Image) -> Stated:
    deep_colours = not is_deep(picture) and any(";16" in str(tile[3]) for tile in getattr(picture, "tile", None) or ())
    if picture.format == "PPM" and picture.mode == "I":  # Pillow has scaled it, by the highest value in its header
        return Stated(0, 2**16 - 1, has_deep_colours=deep_colours)
    tags = getattr(picture, "tag_v2", None) or {}
    lowest, highest = number_of(tags.get(LOWEST_SAMPLE)), number_of(tags.get(HIGHEST_SAMPLE))
    bits, kind = number_of(tags.get(BITS_PER_SAMPLE)), number_of(tags.get(SAMPLE_FORMAT)) or UNSIGNED
    if highest is None and bits is not None and kind == UNSIGNED and 8 < bits < 16:  # packed without gaps
        highest = 2**bits - 1
    if highest is None or highest <= (lowest or 0) or not np.isfinite([lowest or 0, highest]).all():
        lowest = highest = None
    return Stated(lowest or 0, highest, kind == UNSIGNED and bits == 32, deep_colours)


def number_of(tag: Any) -> float | None:
    """The value of a tag that may have one for each channel."""
    first = tag[0] if isinstance(tag, tuple) and tag else tag
    return float(first) if isinstance(first, int | float) else None


def levels_of(values: Numbers, stated: Stated) -> Levels:
    """values (height, width), integers or floats. ValueError for those whose scale cannot be known."""
    if not np.isfinite(values).all():
        raise ValueError("has pixels that are infinite or no number (NaN)")
    if stated.is_unsigned and values.dtype == np.int32:
        values = values.view(np.uint32)  # Pillow has no such mode
    if stated.highest is not None:
        bits = next((bits for bits in DEPTHS if (stated.lowest, stated.highest) == (0, 2**bits - 1)), None)
        if bits is not None and values.dtype.kind != "f":
            return Levels(shifted(np.clip(values, 0, 2**bits - 1), bits), BY_FILE if bits < DEPTHS[-1] else "")
        return Levels(stretched(values, stated.lowest or 0, stated.highest), BY_FILE)
    lowest, highest = values.min(), values.max()
    if values.dtype.kind == "f" and lowest >= 0 and highest <= 1:
        return Levels(stretched(values, 0, 1), FLOATS)
    is_whole = values.dtype.kind != "f" or bool((values == np.rint(values)).all())
    if is_whole and lowest >= 0 and highest < 2 ** DEPTHS[-1]:
        bits = next(bits for bits in DEPTHS if highest < 2**bits)
        return Levels(shifted(values, bits), f"as {bits} bits" if bits < DEPTHS[-1] else "")
    if lowest == highest:
        raise ValueError(f"has one value everywhere, {lowest:g}, and does not say what it means")
    return Levels(stretched(values, float(lowest), float(highest)), BY_ITSELF)


def shifted(values: Numbers, bits: int) -> Numbers:
    """The upper eight of so many bits."""
    return (values.astype(np.int32) >> (bits - DEPTHS[0])).astype(np.uint8)


def stretched(values: Numbers, lowest: float, highest: float) -> Numbers:
    share: Numbers = (values.astype(np.float64) - lowest) / (highest - lowest)
    levels: Numbers = np.rint(255 * share.clip(0, 1)).astype(np.uint8)
    return levels


def check_colours(pixels: Numbers, stated: Stated) -> None:
    """Refuses colours of 16 bits of which only the lower 12 are in use."""
    if stated.has_deep_colours and pixels.max() < DARKEST_COLOURS:
        raise ValueError("has colours of 16 bits of which at most 12 are in use; save it with 8 bits for each colour")


def has_pages(picture: Image.Image) -> bool:
    """Whether a TIFF has more than the page that is read."""
    if picture.format != "TIFF":
        return False
    try:
        picture.seek(1)
    except (*NO_PAGE, struct.error):  # or one that is damaged
        return False
    finally:
        picture.seek(0)
    return True
