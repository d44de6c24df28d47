from pathlib import Path

import pytest

from smoothpl.results.pairing import Kind
from smoothpl.results.runs import find_runs
from smoothpl.results.sweeps import Course
from smoothpl.results.tables import Table, aggregate, tabulate
from tests.support.made_up import made_up, of, only, store

SMOOTH, FIXMATCH = (Course(Kind(method, False), ()) for method in ("smooth", "fixmatch"))


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
