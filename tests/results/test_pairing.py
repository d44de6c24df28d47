from pathlib import Path
from typing import Any

import pytest

from smoothpl.errors import ConfigError
from smoothpl.results.pairing import Kind, Table, drops, increments, tabulate
from smoothpl.results.runs import Run, find_runs
from tests.results.made_up import PAPERS, made_up, store, store_all


def only(tables: list[Table]) -> Table:
    (table,) = tables
    return table


def of(table: Table, method: str) -> Any:
    (row,) = [row for row in table.rows if row.kind.method == method]
    return row


def test_recipes_are_compared_with_the_baseline_run_by_run(tmp_path: Path) -> None:
    table = only(tabulate(find_runs([store_all(tmp_path)])))
    assert [row.kind.method for row in table.rows] == ["fixmatch", "flexmatch", "smooth"]
    smooth, flexmatch = of(table, "smooth"), of(table, "flexmatch")
    expected = [a - b for a, b in zip(PAPERS["fixmatch"], PAPERS["smooth"], strict=True)]
    assert smooth.comparison.gains == pytest.approx(expected)
    assert smooth.comparison.p == 0.015625
    assert flexmatch.comparison.p == 0.15625
    assert (smooth.p_holm, flexmatch.p_holm) == (0.03125, 0.15625)
    assert table.notes == []


def test_the_order_in_which_runs_were_made_does_not_matter(tmp_path: Path) -> None:
    runs = find_runs([store_all(tmp_path)])
    assert only(tabulate(runs)).rows == only(tabulate(reversed(runs))).rows


def test_another_baseline_can_be_named_and_a_missing_one_is_said(tmp_path: Path) -> None:
    runs = find_runs([store_all(tmp_path)])
    table = only(tabulate(runs, baseline="smooth"))
    assert of(table, "fixmatch").comparison.p == 1.0
    table = only(tabulate(runs, baseline="uda"))
    assert table.notes == ["no run of uda to compare with"]
    assert all(row.comparison is None for row in table.rows)


def test_what_has_no_partner_is_named_and_the_others_are_compared(tmp_path: Path) -> None:
    for fold in range(3):
        store(tmp_path, made_up("fixmatch", fold, 9.0))
    for fold in (1, 2, 7):
        store(tmp_path, made_up("smooth", fold, 8.0))
    table = only(tabulate(find_runs([tmp_path])))
    assert of(table, "smooth").comparison.gains == [1.0, 1.0]
    assert table.notes == [
        "smooth without a partner in fixmatch: fold=7 seed=2046",
        "fixmatch without a partner in smooth: fold=0 seed=2046",
    ]


def test_a_run_that_was_made_twice_is_an_error_with_a_choice(tmp_path: Path) -> None:
    for error, started in ((5.0, "2026-11-16"), (6.0, "2026-11-17")):
        store(tmp_path, made_up("fixmatch", 0, error, started=started))
    runs = find_runs([tmp_path])
    with pytest.raises(ConfigError, match=r"run twice with fold=0 seed=2046: in .*000 and in .*001.*duplicates=newest"):
        tabulate(runs)
    assert of(only(tabulate(runs, duplicates="newest")), "fixmatch").spread.mean == 6.0
    assert of(only(tabulate(runs, duplicates="oldest")), "fixmatch").spread.mean == 5.0


@pytest.mark.parametrize(("more", "what"), [({"num_test": 300}, "test images"), ({"labeled": [1]}, "labeled images")])
def test_runs_with_other_images_are_not_compared(tmp_path: Path, more: dict[str, Any], what: str) -> None:
    store(tmp_path, made_up("fixmatch", 0, 9.0))
    store(tmp_path, made_up("smooth", 0, 8.0, **more))
    table = only(tabulate(find_runs([tmp_path])))
    assert of(table, "smooth").comparison is None
    assert table.notes == [f"smooth, fold=0 seed=2046: other {what} than fixmatch had; not compared"]


def test_runs_without_a_result_do_not_count(tmp_path: Path) -> None:
    store(tmp_path, made_up("fixmatch", 0, 9.0))
    store(tmp_path, made_up("smooth", 0, None))
    store(tmp_path, made_up("smooth", 1, 8.0, status="failed"))
    store(tmp_path, made_up("smooth", 2, 8.0, status="running"))
    table = only(tabulate(find_runs([tmp_path])))
    assert [row.kind.method for row in table.rows] == ["fixmatch"]


def test_what_all_recipes_have_in_common_is_not_in_their_names(tmp_path: Path) -> None:
    store(tmp_path, made_up("fixmatch", 0, 9.0, "max_steps=10"))
    store(tmp_path, made_up("smooth", 0, 9.0, "max_steps=10", "threshold=0.9"))
    table = only(tabulate(find_runs([tmp_path])))
    assert [row.label for row in table.rows] == ["fixmatch", "smooth,threshold=0.9"]


def sweep_of(tmp_path: Path, folds: int = 1, usual_folds: int = 1) -> Table:
    """Errors are 10 x threshold for fixmatch, a point less for smooth."""
    for method, less in (("fixmatch", 0.0), ("smooth", 1.0)):
        for threshold in (0.8, 0.9, 0.95):
            for fold in range(usual_folds if threshold == 0.95 else folds):
                store(tmp_path, made_up(method, fold, 10 * threshold - less, f"threshold={threshold}"))
    return only(tabulate(find_runs([tmp_path])))


def test_a_swept_knob_pairs_equal_values(tmp_path: Path) -> None:
    table = sweep_of(tmp_path, folds=2, usual_folds=2)
    assert len(table.rows) == 6
    (sweep,) = table.sweeps
    assert (sweep.knob, sweep.values) == ("threshold", [0.8, 0.9, 0.95])
    comparison = sweep.lines[Kind("smooth", False)].comparison
    assert comparison is not None
    assert comparison.gains == [1.0] * 6
    assert sweep.lines[Kind("fixmatch", False)].comparison is None
    for row in table.rows:
        if row.partner is not None:
            assert row.partner.knobs["threshold"] == row.knobs["threshold"]


def test_values_that_were_run_less_often_are_for_comparison_only(tmp_path: Path) -> None:
    table = sweep_of(tmp_path, folds=1, usual_folds=6)
    assert [row.knobs["threshold"] for row in table.rows] == [0.95, 0.95]
    assert of(table, "smooth").comparison.spread.n == 6
    (sweep,) = table.sweeps
    comparison = sweep.lines[Kind("smooth", False)].comparison
    assert comparison is not None
    assert comparison.spread.n == 3  # of the fold that was run at every value


def test_seeds_that_were_run_less_often_are_for_comparison_only(tmp_path: Path) -> None:
    for method, error in (("fixmatch", 9.0), ("smooth", 8.0)):
        for fold in range(3):
            store(tmp_path, made_up(method, fold, error + fold))
        for seed in (1, 2):
            store(tmp_path, made_up(method, 2, error, seed=seed))
    table = only(tabulate(find_runs([tmp_path])))
    assert [len(row.runs) for row in table.rows] == [3, 3]
    (sweep,) = table.sweeps
    assert (sweep.knob, sweep.values) == ("seed", [1, 2, 2046])
    comparison = sweep.lines[Kind("smooth", False)].comparison
    assert comparison is not None
    assert comparison.gains == [1.0] * 3


def test_a_baseline_without_the_same_value_is_no_partner(tmp_path: Path) -> None:
    for threshold in (0.8, 0.9):
        store(tmp_path, made_up("fixmatch", 0, 9.0, f"threshold={threshold}"))
    store(tmp_path, made_up("smooth", 0, 8.0, "threshold=0.7"))
    (note,) = only(tabulate(find_runs([tmp_path]))).notes
    assert note.startswith("smooth,threshold=0.7 has no partner: fixmatch was not run with")
    assert "threshold=0.7" in note


def test_more_labels_are_compared_with_fewer(tmp_path: Path) -> None:
    for num_labels, errors in ((40, [9.0, 8.0]), (50, [7.0, 8.5]), (60, [6.0, 6.0])):
        for fold, error in enumerate(errors):
            store(tmp_path, made_up("smooth", fold, error, "split=random", f"num_labels={num_labels}"))
    first, second = increments(tabulate(find_runs([tmp_path])))
    assert (first.before.num_labels, first.after.num_labels, first.comparison.gains) == (40, 50, [2.0, -0.5])
    assert (second.before.num_labels, second.after.num_labels, second.comparison.gains) == (50, 60, [1.0, 2.5])


def test_another_split_is_compared_with_balanced_classes(tmp_path: Path) -> None:
    for fold in range(2):
        store(tmp_path, made_up("smooth", fold, 5.0))
        store(tmp_path, made_up("smooth", fold, 6.5, "split=imbalanced"))
        store(tmp_path, made_up("smooth", fold, 9.0, "split=imbalanced", "threshold=0.8"))
    (drop,) = drops(tabulate(find_runs([tmp_path])))
    assert (drop.after.split, drop.comparison.gains) == ("imbalanced", [1.5, 1.5])


def test_knobs_are_kept_once_for_all_runs_of_a_recipe(tmp_path: Path) -> None:
    runs: list[Run] = find_runs([store_all(tmp_path)])
    assert len({id(run.knobs) for run in runs}) == 3
