import struct
import zlib
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from PIL.TiffImagePlugin import ImageFileDirectory_v2

from smoothpl.data.decode import decode, decode_safely, decode_with_remarks, from_pillow
from smoothpl.data.depth import BY_FILE, BY_ITSELF, FIRST_PAGE, FLOATS

LOWEST, HIGHEST, DOUBLE = 340, 341, 12


def write(path: Path, values: Sequence[float], kind: str, **tags: float) -> Path:
    """One row of pixels. Tags: lowest and highest."""
    array = np.array([values], dtype=kind)
    options: dict[str, Any] = {}
    if tags:
        stated = ImageFileDirectory_v2()
        for name, value in tags.items():
            stated[{"lowest": LOWEST, "highest": HIGHEST}[name]] = value
            stated.tagtype[{"lowest": LOWEST, "highest": HIGHEST}[name]] = DOUBLE
        options = {"tiffinfo": stated}
    Image.fromarray(array).save(path, **options)
    return path


@pytest.mark.parametrize(
    ("values", "kind", "expected", "remark"),
    [
        ([0, 255, 256, 65535], "uint16", [0, 0, 1, 255], ""),
        ([0, 256, 16384], "uint16", [0, 1, 64], ""),
        ([0, 64, 16383], "uint16", [0, 1, 255], "as 14 bits"),
        ([0, 16, 2048, 4095], "uint16", [0, 1, 128, 255], "as 12 bits"),
        ([0, 4, 1023], "uint16", [0, 1, 255], "as 10 bits"),
        ([0, 7, 255], "uint16", [0, 7, 255], "as 8 bits"),
        ([0, 0], "uint16", [0, 0], "as 8 bits"),
        ([0, 256, 65535], "int32", [0, 1, 255], ""),
        ([0, 5_000, 100_000], "int32", [0, 13, 255], BY_ITSELF),
        ([-1000, 0, 3000], "int32", [0, 64, 255], BY_ITSELF),
        ([0, 0.5, 1], "float32", [0, 128, 255], FLOATS),
        ([0.1, 0.2], "float32", [26, 51], FLOATS),
        ([0, 7, 255], "float32", [0, 7, 255], "as 8 bits"),
        ([0, 16, 4095], "float32", [0, 1, 255], "as 12 bits"),
        ([-0.5, 0, 0.5], "float32", [0, 128, 255], BY_ITSELF),
        ([0, 1.5, 3], "float32", [0, 128, 255], BY_ITSELF),
    ],
)
def test_numbers_without_a_stated_range_are_scaled_by_themselves(
    values: Sequence[float], kind: str, expected: list[int], remark: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "x.tiff", values, kind)
    pixels, remarks = decode_with_remarks(path)
    assert [channel.tolist() for channel in pixels] == [[expected]] * 3
    assert remarks == ((remark,) if remark else ())
    assert torch.equal(decode_safely(path), pixels)  # in prediction, and in an export
    assert torch.equal(from_pillow(Image.fromarray(np.array([values], dtype=kind))), pixels)


@pytest.mark.parametrize(
    ("kind", "lowest", "highest", "expected"),
    [("uint16", 0, 4095, [0, 0, 6]), ("uint16", 50, 150, [0, 128, 255]), ("float32", 0, 1000, [0, 26, 26])],
)
def test_a_range_that_the_file_states_comes_first(
    kind: str, lowest: float, highest: float, expected: list[int], tmp_path: Path
) -> None:
    values = [0, 100, 101 if kind == "float32" else 250] if lowest or kind == "float32" else [0, 9, 100]
    path = write(tmp_path / "x.tiff", values, kind, lowest=lowest, highest=highest)
    pixels, remarks = decode_with_remarks(path)
    assert (pixels[0].tolist(), remarks) == ([expected], (BY_FILE,))


@pytest.mark.parametrize(("lowest", "highest"), [(5, 5), (9, 1), (0, float("inf")), (float("nan"), 1)])
def test_a_stated_range_that_is_none_counts_as_not_stated(lowest: float, highest: float, tmp_path: Path) -> None:
    path = write(tmp_path / "x.tiff", [0, 16, 4095], "uint16", lowest=lowest, highest=highest)
    assert decode_with_remarks(path).remarks == ("as 12 bits",)


def tiff(values: Sequence[int], bits: int, data: bytes, sample_format: int = 1) -> bytes:
    """One row of integers, as Pillow reads and does not write them."""
    tags = ImageFileDirectory_v2()
    facts = {256: len(values), 257: 1, 258: bits, 259: 1, 262: 1, 273: 0, 277: 1, 278: 1, 279: len(data)}
    for tag, value in (facts | {339: sample_format}).items():
        tags[tag] = value
    file = BytesIO()
    tags.save(file)
    return file.getvalue() + data


def test_twelve_bits_without_gaps_are_twelve_bits_however_dark(tmp_path: Path) -> None:
    values = [0, 16, 160, 320]
    packed = int("".join(f"{value:012b}" for value in values), 2).to_bytes(6, "big")
    (tmp_path / "x.tiff").write_bytes(tiff(values, 12, packed))
    pixels, remarks = decode_with_remarks(tmp_path / "x.tiff")
    assert (pixels[0].tolist(), remarks) == ([[0, 1, 10, 20]], (BY_FILE,))


def integers(path: Path, values: Sequence[int], kind: str, sample_format: int) -> Path:
    array = np.array(values, dtype=kind)
    path.write_bytes(tiff(values, array.itemsize * 8, array.tobytes(), sample_format))
    return path


def test_integers_of_32_bits_and_signed_ones_keep_their_order(tmp_path: Path) -> None:
    unsigned = integers(tmp_path / "unsigned.tiff", [0, 2**31, 2**32 - 1, 0], "<u4", sample_format=1)
    signed = integers(tmp_path / "signed.tiff", [-1024, 0, 1024, 3071], "<i2", sample_format=2)
    positive = integers(tmp_path / "positive.tiff", [0, 16, 4095, 0], "<i2", sample_format=2)
    assert decode(unsigned)[0].tolist() == [[0, 128, 255, 0]]
    assert decode(signed)[0].tolist() == [[0, 64, 128, 255]]
    assert decode(positive)[0].tolist() == [[0, 1, 255, 0]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, float("nan")], r"infinite or no number \(NaN\)"),
        ([0, float("inf")], "infinite"),
        ([5.5, 5.5], "has one value everywhere, 5.5, and does not say what it means"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(values: list[float], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        decode(write(tmp_path / "x.tiff", values, "float32"))


def test_the_header_of_a_portable_grey_map_states_its_highest_value(tmp_path: Path) -> None:
    (tmp_path / "x.pgm").write_bytes(b"P5 3 1 4095\n" + np.array([0, 16, 160], ">u2").tobytes())
    pixels, remarks = decode_with_remarks(tmp_path / "x.pgm")
    assert (pixels[0].tolist(), remarks) == ([[0, 1, 10]], ())


def deep_colours(values: Sequence[int]) -> bytes:
    """A PNG with 16 bits for each colour, one row of grey."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = b"\0" + np.repeat(np.array(values, ">u2"), 3).tobytes()
    header = struct.pack(">IIBBBBB", len(values), 1, 16, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b"")


def test_deep_colours_keep_their_upper_byte_and_are_refused_if_that_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(deep_colours([0, 256, 65535]))
    assert decode(path)[0].tolist() == [[0, 1, 255]]
    path.write_bytes(deep_colours([0, 256, 4095]))
    with pytest.raises(ValueError, match="of which at most 12 are in use; save it with 8 bits"):
        decode(path)
    Image.new("RGB", (2, 2)).save(path)
    assert decode(path).max() == 0  # eight bits, and black


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "tiff_deflate"])
def test_of_several_pages_the_first_is_read_and_that_is_said(compression: str, tmp_path: Path) -> None:
    pages = [Image.fromarray(np.full((3, 4), value, np.uint16)) for value in (60_000, 0, 9)]
    pages[0].save(tmp_path / "x.tiff", save_all=True, append_images=pages[1:], compression=compression)
    pixels, remarks = decode_with_remarks(tmp_path / "x.tiff")
    assert torch.equal(pixels, torch.full((3, 3, 4), 234, dtype=torch.uint8))
    assert remarks == (FIRST_PAGE,)
