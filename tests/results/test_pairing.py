from pathlib import Path
from typing import Any

import pytest

from smoothpl.errors import ConfigError
from smoothpl.results.pairing import Kind
from smoothpl.results.runs import Run, find_runs
from smoothpl.results.sweeps import Course
from smoothpl.results.tables import Table, aggregate, drops, increments, tabulate
from tests.results.made_up import PAPERS, made_up, store, store_all

SMOOTH, FIXMATCH = (Course(Kind(method, False), ()) for method in ("smooth", "fixmatch"))


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
    comparison = sweep.lines[SMOOTH].comparison
    assert comparison is not None
    assert comparison.gains == [1.0] * 6
    assert sweep.lines[FIXMATCH].comparison is None
    for row in table.rows:
        if row.partner is not None:
            assert row.partner.knobs["threshold"] == row.knobs["threshold"]


def test_values_that_were_run_less_often_are_for_comparison_only(tmp_path: Path) -> None:
    table = sweep_of(tmp_path, folds=1, usual_folds=6)
    assert [row.knobs["threshold"] for row in table.rows] == [0.95, 0.95]
    assert of(table, "smooth").comparison.spread.n == 6
    (sweep,) = table.sweeps
    comparison = sweep.lines[SMOOTH].comparison
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
    comparison = sweep.lines[SMOOTH].comparison
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


def test_all_labels_are_another_task_than_few(tmp_path: Path) -> None:
    store(tmp_path, made_up("fixmatch", 0, 9.0))
    store(tmp_path, made_up("fully_supervised", 0, 2.0, "num_labels=null", labeled=list(range(1297))))
    assert [table.place.num_labels for table in tabulate(find_runs([tmp_path]))] == [40, 1297]


def ablations(tmp_path: Path) -> Table:
    """As the paper does it: folds with the default, then one knob after the other on fold 0."""
    for method, less in (("fixmatch", 0.0), ("smooth", 1.0)):
        for fold in range(6):
            store(tmp_path, made_up(method, fold, 20 + fold - less))
        for threshold in (0.8, 0.9):
            store(tmp_path, made_up(method, 0, 10 * threshold - less, f"threshold={threshold}"))
        for momentum in (0.5, 0.99):
            store(tmp_path, made_up(method, 0, 50 * momentum - less, f"optim.momentum={momentum}"))
    return only(tabulate(find_runs([tmp_path])))


def test_two_knobs_that_were_swept_are_two_sweeps(tmp_path: Path) -> None:
    table = ablations(tmp_path)
    assert [len(row.runs) for row in table.rows] == [6, 6]
    found = {
        sweep.knob: {value: row.spread.mean for value, row in sweep.lines[SMOOTH].rows.items()}
        for sweep in table.sweeps
    }
    assert found == {
        "threshold": pytest.approx({0.8: 7.0, 0.9: 8.0, 0.95: 19.0}),
        "momentum": pytest.approx({0.5: 24.0, 0.9: 19.0, 0.99: 48.5}),
    }
    assert aggregate([table])[Kind("smooth", False), "digits"].gains == [1.0] * 10


def test_a_grid_of_two_knobs_has_a_line_for_every_value_of_the_other(tmp_path: Path) -> None:
    for threshold in (0.8, 0.9, 0.95):
        for weight in (1.0, 2.0):
            store(
                tmp_path,
                made_up("smooth", 0, threshold * weight, f"threshold={threshold}", f"unlabeled_weight={weight}"),
            )
    (sweep,) = only(tabulate(find_runs([tmp_path]))).sweeps
    assert [str(course) for course in sweep.lines] == ["smooth, unlabeled_weight=1.0", "smooth, unlabeled_weight=2.0"]


def test_no_recipe_vanishes(tmp_path: Path) -> None:
    for fold in range(6):
        store(tmp_path, made_up("smooth", fold, 9.0))
    store(tmp_path, made_up("smooth", 0, 9.0, "threshold=0.9", "unlabeled_weight=2"))
    store(tmp_path, made_up("smooth", 0, 9.0, "threshold=0.98", "unlabeled_weight=3"))
    table = only(tabulate(find_runs([tmp_path])))
    shown = {row.recipe for row in table.rows}
    shown |= {row.recipe for sweep in table.sweeps for line in sweep.lines.values() for row in line.rows.values()}
    assert len(shown) == 3


def test_a_job_that_failed_does_not_decide_what_is_shown(tmp_path: Path) -> None:
    for method in ("fixmatch", "smooth"):
        for threshold in (0.9, 0.95, 0.98):
            for fold in range(3):
                if (method, fold) != ("smooth", 2) or threshold == 0.9:
                    store(tmp_path, made_up(method, fold, 9.0 + fold, f"threshold={threshold}"))
    table = only(tabulate(find_runs([tmp_path])))
    assert len(table.rows) == 6
    (sweep,) = table.sweeps
    assert {len(row.runs) for line in sweep.lines.values() for row in line.rows.values()} == {2}
    assert sweep.notes[0].startswith("Means over what was run at every value (fold 0, 1); 4 runs of other folds")


def test_seeds_without_a_common_fold_stay_where_they_are(tmp_path: Path) -> None:
    for fold in range(9):
        store(tmp_path, made_up("fixmatch", fold, 9.0))
    for fold, seed in ((3, 1), (4, 2)):
        store(tmp_path, made_up("fixmatch", fold, 9.0, seed=seed))
    table = only(tabulate(find_runs([tmp_path])))
    assert len(table.rows[0].runs) == 11
    assert table.sweeps == []


def test_a_seed_that_only_one_method_has_on_all_folds_keeps_its_pairs(tmp_path: Path) -> None:
    for method, seeds in (("fixmatch", (1, 2)), ("smooth", (1,))):
        for fold in range(6):
            store(tmp_path, made_up(method, fold, 9.0))
        for seed in seeds:
            store(tmp_path, made_up(method, 0, 9.0, seed=seed))
    table = only(tabulate(find_runs([tmp_path])))
    assert of(table, "smooth").comparison.spread.n == 7
    assert not any("smooth without a partner" in note for note in table.notes)


def test_a_knob_that_a_method_does_not_have_is_no_reason_against_a_partner(tmp_path: Path) -> None:
    for threshold in (0.9, 0.95):
        store(tmp_path, made_up("fixmatch", 0, 9.0, f"threshold={threshold}"))
    store(tmp_path, made_up("supervised", 0, 12.0))
    table = only(tabulate(find_runs([tmp_path])))
    assert of(table, "supervised").comparison.gains == [-3.0]
    assert any("the plainest of 2 that would do" in note for note in table.notes)


def test_another_budget_is_said(tmp_path: Path) -> None:
    store(tmp_path, made_up("fixmatch", 0, 9.0, "max_steps=100"))
    store(tmp_path, made_up("smooth", 0, 8.0))
    (note,) = only(tabulate(find_runs([tmp_path]))).notes
    assert note.endswith("differ in more than the method: max_steps 1000 and 100")
