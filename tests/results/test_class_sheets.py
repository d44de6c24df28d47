from pathlib import Path

import pytest
import torch

from smoothpl.results.class_sheets import MOST_ROWS, Sizes, class_sheets, with_abridged
from smoothpl.results.output import as_text
from smoothpl.results.report import Options, build_report
from smoothpl.results.runs import find_runs
from smoothpl.results.sheets import Cell, Column, Sheet
from smoothpl.results.tables import tabulate
from tests.support.made_up import made_up, only, store

HEAD_TO_TAIL = [3, 0, 1, 2, 4, 5, 6, 7, 8, 9]
LABELS = [9, 8, 7, 20, 6, 5, 4, 3, 2, 2]
TAILED = ("benchmark=digits_long_tailed",)


def confusion(wrong: list[int], tested: int = 50) -> list[list[int]]:
    """So many images of each class are taken for the next class."""
    right = torch.diag(tested - torch.tensor(wrong))
    return (right + torch.diag(torch.tensor(wrong)).roll(1, dims=1)).tolist()


def store_tailed(folder: Path, method: str, fold: int, wrong: list[int], *knobs: str) -> None:
    record = made_up(method, fold, 100 * sum(wrong) / 500, *TAILED, *knobs)
    record.confusion, record.labeled_per_class = confusion(wrong), LABELS
    record.unlabeled_per_class, record.num_unlabeled = [5 * each for each in LABELS], 5 * sum(LABELS)
    record.name = record.name.replace(f"{TAILED[0]},", "")  # as a run is called
    store(folder, record)


def titles(folder: Path) -> list[str]:
    return [sheet.title for sheet in build_report(find_runs([folder]), Options(), with_pictures=False).sheets]


def test_errors_stand_class_by_class_from_the_head_to_the_tail_and_the_balanced_error_last(tmp_path: Path) -> None:
    for fold in (0, 1):
        store_tailed(tmp_path, "fixmatch", fold, [0, 0, 0, 0, 5, 5, 5, 10, 20, 20 + 10 * fold])
        store_tailed(tmp_path, "smooth", fold, [0, 0, 0, 1, 0, 0, 5, 10, 20, 20])
    sheet, against = class_sheets(only(tabulate(find_runs([tmp_path]))), "exact")
    assert sheet.title == "digits_long_tailed, 40 labels, long_tailed: error of each class, %"
    names = ["class", "labels", "unlabeled", "tested", "fixmatch ± std", "smooth ± std"]
    assert [column.name for column in sheet.columns] == names
    rows = [[cell.text for cell in row] for row in sheet.rows]
    assert [row[0] for row in rows] == [*map(str, HEAD_TO_TAIL), "balanced error"]
    assert rows[0] == ["3", "20", "100", "50", "0.00 ± 0.00", "2.00 ± 0.00"]
    assert rows[9] == ["9", "2", "10", "50", "50.00 ± 10.00", "40.00 ± 0.00"]
    assert rows[10] == ["balanced error", "", "", "", "14.00 ± 1.00", "11.20 ± 0.00"]
    assert [cell.is_best for cell in sheet.rows[10][4:]] == [False, True]
    assert "by the number of labels" in sheet.notes[0]
    assert against.title == "digits_long_tailed, 40 labels, long_tailed: balanced error, against fixmatch"
    assert [cell.text for cell in against.rows[0][:3]] == ["smooth", "2", "2.80 ± 1.00"]


def test_the_balanced_error_counts_every_class_alike_however_many_of_it_are_tested(tmp_path: Path) -> None:
    for method, of_head in (("fixmatch", 0), ("smooth", 9)):
        record = made_up(method, 0, 5.0)
        counts = torch.diag(torch.tensor([90 - of_head, *[10] * 8, 0]))  # no image of the last class is tested
        counts[0, 1] = of_head
        record.confusion, record.labeled_per_class = counts.tolist(), [4] * 10
        store(tmp_path, record)
    sheet, against = class_sheets(only(tabulate(find_runs([tmp_path]))), "exact")
    assert [cell.text for cell in sheet.rows[-1]] == ["balanced error", "", "", "0.00 ± 0.00", "1.11 ± 0.00"]
    assert [cell.text for cell in sheet.rows[0]] == ["0", "4", "90", "0.00 ± 0.00", "10.00 ± 0.00"]
    assert sheet.rows[-2][-1] == Cell("-")
    assert against.rows[0][2].text == "-1.11 ± 0.00"
    assert "by the number of test images" in sheet.notes[0]


def test_equal_classes_have_no_such_table_and_old_records_without_a_confusion_neither(tmp_path: Path) -> None:
    for method in ("fixmatch", "smooth"):
        store(tmp_path, made_up(method, 0, 5.0, labeled_per_class=[4] * 10, confusion=confusion([5] * 10)))
        store(tmp_path, made_up(method, 1, 5.0, labeled_per_class=LABELS, confusion=[]))
    assert not any("each class" in title or "balanced error" in title for title in titles(tmp_path))


def test_every_split_has_a_table_of_its_own(tmp_path: Path) -> None:
    for tail in (10, -10):
        for method in ("fixmatch", "smooth"):
            store_tailed(tmp_path, method, 0, [0] * 9 + [5], f"split.unlabeled_tail={tail}")
    place = "digits_long_tailed, 40 labels, long_tailed, split.unlabeled_tail="
    assert {title for title in titles(tmp_path) if title.endswith("error of each class, %")} == {
        f"{place}10: error of each class, %",
        f"{place}-10: error of each class, %",
    }


@pytest.mark.parametrize("suffix", ["html", "md", "csv", "tex"])
def test_every_format_has_it(tmp_path: Path, suffix: str) -> None:
    for method in ("fixmatch", "smooth"):
        store_tailed(tmp_path, method, 0, [0] * 9 + [5])
    report = build_report(find_runs([tmp_path]), Options(), with_pictures=False)
    text = as_text(report, Path(f"report.{suffix}")).replace("\\", "")
    assert "error of each class, %" in text
    assert "balanced error" in text


@pytest.mark.parametrize(
    ("labeled", "unlabeled", "order", "by"),
    [
        ([2, 9, 4], [9, 9, 9], [1, 2, 0], "labels"),
        ([4, 4, 4], [6, 9, 9], [0, 1, 2], "tested"),  # 1.5 times as many is still even
        ([4, 4, 4], [3, 5, 9], [2, 1, 0], "unlabeled"),
        ([], [], [0, 1, 2], "tested"),
    ],
)
def test_the_head_is_told_by_what_is_uneven(
    labeled: list[int], unlabeled: list[int], order: list[int], by: str
) -> None:
    sizes = Sizes(labeled, unlabeled, [7, 7, 7])
    assert (sizes.order, sizes.deciding, sizes.is_uneven) == (order, by, by != "tested")


def test_a_terminal_shows_both_ends_of_many_classes() -> None:
    rows = [[Cell(str(c)), Cell("1")] for c in range(MOST_ROWS + 1)] + [[Cell("balanced error"), Cell("1")]]
    sheet = with_abridged(Sheet("", [Column("class"), Column("smooth")], rows))
    assert sheet.abridged is not None
    first = [row[0].text for row in sheet.abridged.rows]
    assert first == [*map(str, range(8)), "…", *map(str, range(13, 21)), "balanced error"]
    assert "Both ends of 21 classes" in sheet.abridged.notes[0]
    assert with_abridged(Sheet("", sheet.columns, rows[1:])).abridged is None
