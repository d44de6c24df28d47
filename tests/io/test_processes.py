import os
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from smoothpl.io import processes
from smoothpl.io.processes import FEW, MOST_AT_A_TIME, in_processes


class Noting:
    """What was begun can be seen by all processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, items: Sequence[int]) -> tuple[int, int]:
        (self.folder / str(items[0])).touch()
        return items[0], os.getpid()


def process_of(_: Sequence[int]) -> int:
    return os.getpid()


def stats(names: Sequence[str]) -> list[os.stat_result]:
    return [os.stat(name) for name in names]


def test_many_items_are_done_in_order_by_other_processes_and_not_far_ahead(tmp_path: Path) -> None:
    results = in_processes(Noting(tmp_path), range(200 * MOST_AT_A_TIME))
    begun = [next(results) for _ in range(3)]
    assert [item for item, _ in begun] == [0, MOST_AT_A_TIME, 2 * MOST_AT_A_TIME]
    assert os.getpid() not in {process for _, process in begun}
    assert len(list(tmp_path.iterdir())) < 200
    results.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("few", [1, FEW])
def test_all_items_come_back_once(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "FEW", few)
    for number in (0, 1, 30, 100):
        parts = list(in_processes(list, range(number), most=9))
        assert [item for part in parts for item in part] == list(range(number))
        assert all(len(part) <= 9 for part in parts)


def test_no_random_number_is_taken_from_the_run() -> None:
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    list(in_processes(list, range(FEW)))
    assert torch.equal(torch.rand(1), expected)


def test_few_items_are_done_here() -> None:
    assert {*in_processes(process_of, range(FEW - 1))} == {os.getpid()}


@pytest.mark.parametrize("number", [10, FEW])
def test_an_error_of_the_disk_says_which_file_it_was(number: int) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        list(in_processes(stats, ["/nowhere/at all"] * number))
    assert raised.value.filename == "/nowhere/at all"
