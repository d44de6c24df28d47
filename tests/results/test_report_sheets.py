from pathlib import Path

from smoothpl.results.report_sheets import comparison_sheet, errors_sheet, left_out_sheet, runs_sheet
from smoothpl.results.runs import find_runs
from smoothpl.results.tables import tabulate
from tests.support.made_up import made_up, only, store, store_all


def test_errors_stand_fold_by_fold_with_the_best_mean_marked(tmp_path: Path) -> None:
    sheet = errors_sheet(only(tabulate(find_runs([store_all(tmp_path)]))), "last")
    assert sheet.title == "digits_40, 40 labels, balanced: error of the last checkpoint, %"
    assert [column.name for column in sheet.columns][:7] == ["recipe", *"012345"]
    best = {row[0].text: row[7].is_best for row in sheet.rows}
    assert best == {"fixmatch": False, "flexmatch": True, "smooth": False}


def test_columns_name_the_seed_where_there_are_several(tmp_path: Path) -> None:
    for seed in (1, 2):
        store(tmp_path, made_up("smooth", 0, 5.0, seed=seed))
    table = only(tabulate(find_runs([tmp_path])))
    assert [column.name for column in errors_sheet(table, "last").columns][1:3] == ["0/1", "0/2"]
    assert comparison_sheet(table) is None


def test_a_run_of_which_nothing_is_known_has_no_numbers(tmp_path: Path) -> None:
    store(tmp_path, made_up("fixmatch", 0, 5.0))
    place = store(tmp_path, made_up("smooth", 0, 5.0))
    (place / "run.json").write_text("{}")
    runs = find_runs([tmp_path])
    good, bad = runs_sheet(runs, {runs[0].software: 1}).rows
    assert [cell.text for cell in good[1:6]] == ["digits_40, balanced", "40", "0", "2046", "5.00"]
    assert good[10].text == "1"
    assert [cell.text for cell in bad] == ["", *["-"] * 7, "unreadable", "-", "-", place.name]
    left_out = left_out_sheet(runs)
    assert left_out is not None
    assert [row[-1].text for row in left_out.rows] == [place.name]
    assert left_out_sheet(runs[:1]) is None
