import json
from pathlib import Path
from typing import Any

import pytest
import torch

from smoothpl.layout import PHOTOGRAPHS
from smoothpl.record.photographs import (
    MOST_BYTES,
    SIDE,
    Photograph,
    as_picture,
    is_picture,
    read_photographs,
    write_photographs,
)

SMALL = as_picture(torch.randint(256, (3, 8, 8), dtype=torch.uint8))
RIGHT, WRONG = Photograph(1, 1, 0.9, SMALL), Photograph(1, 0, 0.6, SMALL)


@pytest.mark.parametrize("dims", [(1, 8, 8), (3, 32, 32), (3, 300, 200), (1, 97, 1)])
def test_an_image_of_any_size_becomes_a_small_picture(dims: tuple[int, int, int]) -> None:
    assert is_picture(as_picture(torch.zeros(dims, dtype=torch.uint8)))


def test_photographs_read_back_as_they_were_written(tmp_path: Path) -> None:
    write_photographs(tmp_path, [RIGHT, WRONG])
    assert read_photographs(tmp_path, 2) == [RIGHT, WRONG]
    assert [each.is_right for each in (RIGHT, WRONG)] == [True, False]


def test_a_run_of_an_earlier_version_has_none(tmp_path: Path) -> None:
    assert read_photographs(tmp_path, 2) == []


@pytest.mark.parametrize(
    "text", ["", "{", "7", "[7]", "[[]]", '{"true": 0}', "[" * 100_000, "\udcff", " " * (MOST_BYTES + 1)]
)
def test_a_damaged_file_has_none(tmp_path: Path, text: str) -> None:
    (tmp_path / PHOTOGRAPHS).write_text(text, errors="surrogateescape")
    assert read_photographs(tmp_path, 2) == []


@pytest.mark.parametrize(
    "absurd",
    [
        {"true": 2},
        {"true": -1},
        {"true": True},
        {"predicted": "0"},
        {"confidence": 1.5},
        {"confidence": float("nan")},
        {"confidence": None},
        {"picture": None},
        {"picture": "https://example.org/picture.png"},
        {"picture": "data:text/html;base64,PHA+"},
        {"picture": "data:image/png;base64,AAAA"},
        {"picture": SMALL[:-40] + "===="},
        {"picture": SMALL + '" onload="alert(1)'},
        {"more": 1},
    ],
)
def test_what_is_absurd_is_left_out_and_the_rest_is_read(tmp_path: Path, absurd: dict[str, Any]) -> None:
    (tmp_path / PHOTOGRAPHS).write_text(json.dumps([RIGHT._asdict() | absurd, WRONG._asdict()]))
    assert read_photographs(tmp_path, 2) == [WRONG]


def test_a_picture_that_would_be_huge_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    large = torch.zeros(3, SIDE + 1, SIDE, dtype=torch.uint8)
    with monkeypatch.context() as patch:
        patch.setattr("smoothpl.record.photographs.SIDE", SIDE + 1)
        huge = as_picture(large)
    assert not is_picture(huge)
    assert is_picture(as_picture(large))
