from pathlib import Path

import torch

from smoothpl.record.photographs import MOST_OF_A_KIND, Photograph, as_picture, write_photographs
from smoothpl.results.photographs import photographs

PICTURE = as_picture(torch.zeros(3, 8, 8, dtype=torch.uint8))


def test_the_surest_of_all_runs_come_first(tmp_path: Path) -> None:
    for fold in range(2):
        place = tmp_path / str(fold)
        place.mkdir()
        taken = [Photograph(0, 1, 0.5 + 0.1 * n + 0.05 * fold, PICTURE) for n in range(MOST_OF_A_KIND)]
        write_photographs(place, [Photograph(0, 0, 0.9 + 0.05 * fold, PICTURE), *taken])
    (row,) = photographs([tmp_path / "0", tmp_path / "1"], ["cat", "dog"])
    assert row.name == "cat"
    assert [tile.caption for tile in row.right] == ["95 %", "90 %"]
    assert [tile.caption for tile in row.wrong] == ["dog 75 %", "dog 70 %", "dog 65 %"]
    assert row.wrong[0].description == "cat, taken for dog (75 %)"
    assert row.right[0].description == "cat, recognised (95 %)"
