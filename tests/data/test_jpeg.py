"""The operator behind torchvision.io.decode_jpeg, which is not public: checked with torchvision 0.29."""

from pathlib import Path

import pytest
import torch
import torchvision
from torchvision.io import ImageReadMode, decode_jpeg

from smoothpl.data import jpeg
from tests.support.gallery import GOOD, noise

CHECKED_WITH = "0.29"
JPEGS = [name for name in GOOD if name.endswith(".jpg")]


def test_torchvision_still_has_the_operator() -> None:
    found = hasattr(torch.ops.image, "decode_jpeg")
    assert found, (
        f"torchvision {torchvision.__version__} has no operator image::decode_jpeg, which {CHECKED_WITH} had; call "
        "torchvision.io.decode_jpeg in smoothpl/data/jpeg.py instead."
    )


@pytest.mark.parametrize("name", JPEGS)
def test_it_gives_the_pixels_of_the_public_function(name: str, tmp_path: Path) -> None:
    """Also if its arguments change: the error would be taken for a damaged file, and Pillow would decode instead."""
    GOOD[name](tmp_path / name)
    data = bytearray((tmp_path / name).read_bytes())
    public = decode_jpeg(torch.frombuffer(data, dtype=torch.uint8), ImageReadMode.RGB, apply_exif_orientation=True)
    assert torch.equal(jpeg.decode_jpeg(data), public)


def test_a_damaged_file_is_a_runtime_error(tmp_path: Path) -> None:
    noise().save(tmp_path / "x.jpg")
    with pytest.raises(RuntimeError):
        jpeg.decode_jpeg(bytearray((tmp_path / "x.jpg").read_bytes()[:100]))
