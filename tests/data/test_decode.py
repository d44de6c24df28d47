import os
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image, ImageOps
from torchvision.transforms.v2 import functional

from smoothpl.data import decode as decoding
from smoothpl.data.decode import decode, decode_safely, jpeg_dims
from tests.support.gallery import BAD, GOOD
from tests.support.own import save

LOSSY = {
    "old.jfif": 2,
    "cmyk.jpg": 2,
    "plain.jpg": 2,
    "grey.jpg": 2,
    "rotated.jpg": 2,
    "narrow.jpg": 2,
    "modern.webp": 2,
}
"""How far the two decoders may be apart, in 255ths on average."""


@pytest.mark.parametrize("name", GOOD)
def test_pictures_of_every_kind_become_upright_rgb(name: str, tmp_path: Path) -> None:
    GOOD[name](tmp_path / name)
    picture = decode(tmp_path / name)
    with Image.open(tmp_path / name) as file:
        expected = functional.pil_to_tensor(ImageOps.exif_transpose(file).convert("RGB"))
    assert picture.dtype == torch.uint8
    assert picture.shape == expected.shape
    if not name.startswith("deep"):  # Pillow does not scale 16 bits down, it cuts them off
        assert (picture.float() - expected.float()).abs().mean() <= LOSSY.get(name, 0)


@pytest.mark.parametrize("name", [name for name in GOOD if name.startswith("rotated")])
def test_photographs_of_a_phone_that_was_turned_are_upright(name: str, tmp_path: Path) -> None:
    GOOD[name](tmp_path / name)
    assert decode(tmp_path / name).shape == (3, 40, 30)


@pytest.mark.parametrize("name", BAD)
def test_damaged_pictures_are_refused(name: str, tmp_path: Path) -> None:
    BAD[name](tmp_path / name)
    with pytest.raises(ValueError, match=r"\w"):
        decode(tmp_path / name)


def test_a_file_that_is_too_large_for_an_image_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "film.jpg"
    path.write_bytes(b"\xff\xd8\xff")
    os.truncate(path, 10 * 2**30)  # sparse
    with pytest.raises(ValueError, match=r"has 10\.7 GB, where at most 1\.1 are read"):
        decode_safely(path)


def test_only_a_closed_list_of_formats_is_opened(tmp_path: Path) -> None:
    for name in ("x.eps", "x.ico", "x.tga", "x.pcx"):
        Image.new("RGB", (16, 16)).save(tmp_path / name)
        with pytest.raises(ValueError, match="cannot identify"):
            decode(tmp_path / name)


@pytest.mark.parametrize("name", ["deep.png", "deep.tiff"])
def test_sixteen_bits_are_scaled_to_eight(name: str, tmp_path: Path) -> None:
    values = torch.tensor([[0, 255, 256, 65535]], dtype=torch.int32)
    Image.fromarray(values.numpy().astype("uint16")).save(tmp_path / name)
    assert decode(tmp_path / name)[0].tolist() == [[0, 0, 1, 255]]


@pytest.mark.parametrize(
    "options", [{}, {"progressive": True}, {"optimize": True, "comment": b"x" * 300}, {"dpi": (9, 9)}]
)
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_the_header_of_a_jpeg_tells_its_dims(mode: str, options: dict[str, Any]) -> None:
    file = BytesIO()
    Image.new(mode, (300, 7)).save(file, "JPEG", **options)
    data = bytearray(file.getvalue())
    assert jpeg_dims(data) == (300, 7)
    at = data.index(b"\xff\xdb")  # where an ordinary file has its next segment, some have something else
    for odd in (b"\xff", b"x", b"\xff\xd0", b"\xff\x01"):
        assert jpeg_dims(data[:at] + odd + data[at:]) is None
    assert all(jpeg_dims(data[:end]) in (None, (300, 7)) for end in range(len(data)))


def test_other_files_have_no_such_header() -> None:
    assert jpeg_dims(bytearray()) is None
    assert jpeg_dims(bytearray(b"\x89PNG\r\n\x1a\n" + bytes(40))) is None
    assert jpeg_dims(bytearray(b"\xff\xd8\xff\xe0\x00\x00" + bytes(40))) is None  # a length of 0


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb, other = tmp_path / "bomb.png", tmp_path / "bomb.jpg"
    Image.new("1", (20_000, 20_000)).save(bomb)
    save(other, 0)
    data = other.read_bytes()
    at = data.index(b"\xff\xc0") + 5
    other.write_bytes(data[:at] + b"\xff\x00\xff\x00" + data[at + 4 :])
    monkeypatch.setattr(decoding, "decode_jpeg", None)
    monkeypatch.setattr(decoding, "read_pillow", None)
    for path in (bomb, other):
        assert path.stat().st_size < 100_000
        with pytest.raises(ValueError, match="pixels"):
            decode_safely(path)
    monkeypatch.setattr(decoding, "MOST_PIXELS", 63)
    with pytest.raises(ValueError, match="8 x 8 pixels, where at most 63 are read"):
        decode_safely(save(tmp_path / "small.png", 0))
