import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from smoothpl.data.features.column import ENTRY, Column, find

DIM = 6


@pytest.fixture
def column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Column:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Column(tmp_path / "smoothpl" / "features" / "a column", DIM)


def contents(*numbers: int) -> np.ndarray[Any, Any]:
    return np.array([[number, number + 1] for number in numbers], dtype="<u8").reshape(-1, 2)


def vectors(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers).view(-1, 1) + torch.arange(DIM) / 8


def found(column: Column, *numbers: int) -> list[list[float]]:
    return column.open()[torch.from_numpy(column.rows_of(contents(*numbers)))].tolist()


def test_vectors_are_found_by_content_whatever_the_order_they_came_in(column: Column) -> None:
    column.append(contents(5, 3), vectors(5, 3))
    column.append(contents(9), vectors(9))
    assert column.rows_of(contents(9, 3, 4, 5)).tolist() == [2, 1, -1, 0]
    assert found(column, 9, 3) == vectors(9, 3).tolist()
    assert column.open().dtype == torch.float16


def test_an_empty_column_has_nothing(column: Column) -> None:
    assert column.rows_of(contents(1, 2)).tolist() == [-1, -1]
    assert column.open().shape == (0, DIM)


@pytest.mark.parametrize("lost", [1, ENTRY.itemsize - 1, ENTRY.itemsize + 3])
def test_what_a_killed_process_has_half_written_is_written_again(column: Column, lost: int) -> None:
    column.append(contents(1, 2), vectors(1, 2))
    os.truncate(column.entries, column.entries.stat().st_size - lost)  # the vectors were written, not who they are
    whole = 1 if lost < ENTRY.itemsize else 0
    assert column.rows_of(contents(1, 2)).tolist() == [0, -1][:whole] + [-1] * (2 - whole)
    column.append(contents(2, 7), vectors(2, 7))
    assert found(column, 2, 7) == vectors(2, 7).tolist()
    assert column.vectors.stat().st_size == (whole + 2) * column.row_bytes


def test_a_damaged_vector_is_noticed_and_made_again(column: Column, capsys: pytest.CaptureFixture[str]) -> None:
    column.append(contents(1, 2, 3), vectors(1, 2, 3))
    with column.vectors.open("r+b") as file:
        file.seek(column.row_bytes + 2)
        file.write(b"\xff")
    assert column.rows_of(contents(1, 2, 3)).tolist() == [0, -1, 2]
    assert "1 vector is damaged and made again." in capsys.readouterr().err
    assert column.is_missing(contents(1, 2, 3)).tolist() == [False, True, False]
    column.append(contents(2), vectors(2))
    assert found(column, 1, 2, 3) == vectors(1, 2, 3).tolist()


def test_a_full_disk_leaves_what_was_there(column: Column) -> None:
    column.append(contents(1), vectors(1))
    before = column.vectors.read_bytes(), column.entries.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (column.row_bytes + 3, hard))  # no file may be larger
    try:
        with pytest.raises(OSError, match="File too large"):
            column.append(contents(2), vectors(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (column.vectors.read_bytes(), column.entries.read_bytes()) == before


PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3))), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)))
)
def test_finding_is_what_a_search_one_by_one_finds(
    listed: list[tuple[int, int]], wanted: list[tuple[int, int]]
) -> None:
    places = find(*(np.array(each, dtype="<u8").reshape(-1, 2) for each in (listed, wanted)))
    assert places.tolist() == [listed.index(each) if each in listed else -1 for each in wanted]
