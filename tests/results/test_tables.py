from pathlib import Path

from smoothpl.results.pairing import Kind
from smoothpl.results.runs import find_runs
from smoothpl.results.tables import (
    CONTINUED,
    FROM_SCRATCH,
    Change,
    aggregate,
    continuations,
    drops,
    grown_chains,
    increments,
    tabulate,
)
from tests.support.made_up import made_up, store


def test_more_labels_are_compared_with_fewer(tmp_path: Path) -> None:
    for num_labels, errors in ((40, [9.0, 8.0]), (50, [7.0, 8.5]), (60, [6.0, 6.0])):
        for fold, error in enumerate(errors):
            store(tmp_path, made_up("smooth", fold, error, "split=random", f"num_labels={num_labels}"))
    (steps,) = increments(tabulate(find_runs([tmp_path]))).values()
    first, second = steps
    assert (first.before.num_labels, first.after.num_labels, first.comparison.gains) == (40, 50, [2.0, -0.5])
    assert (second.before.num_labels, second.after.num_labels, second.comparison.gains) == (50, 60, [1.0, 2.5])


def store_grown(folder: Path, method: str, *errors: tuple[str, float]) -> None:
    """Errors of one fold by the numbers of labels: 40-50 is a run with 50 that continues one with 40."""
    for numbers, error in errors:
        *before, last = numbers.split("-")
        knobs = ("split=random", f"num_labels={last}", f"labels_before=[{','.join(before)}]")
        store(folder, made_up(method, 0, error, *knobs[: 2 + bool(before)]))


def gains_by_labels(steps: list[Change]) -> list[tuple[int, int, float]]:
    return [(step.before.num_labels, step.after.num_labels, step.comparison.gains[0]) for step in steps]


def test_continued_runs_are_kept_apart_from_runs_from_scratch_and_compared_with_them(tmp_path: Path) -> None:
    store_grown(tmp_path, "smooth", ("40", 9.0), ("50", 7.0), ("60", 6.0), ("40-50", 6.0), ("40-50-60", 7.0))
    tables = tabulate(find_runs([tmp_path]))
    found = increments(tables)
    assert gains_by_labels(found[FROM_SCRATCH]) == [(40, 50, 2.0), (50, 60, 1.0)]
    assert gains_by_labels(found[CONTINUED]) == [(40, 50, 3.0), (50, 60, -1.0)]
    assert gains_by_labels(continuations(tables)) == [(50, 50, 1.0), (60, 60, -1.0)]


def test_two_runs_that_continue_the_same_one_share_its_change(tmp_path: Path) -> None:
    store_grown(
        tmp_path, "smooth", ("40", 9.0), ("40-50", 8.0), ("40-50-60", 7.0), ("40-50-70", 5.0), ("20-30-80", 1.0)
    )
    tables = tabulate(find_runs([tmp_path]))
    assert gains_by_labels(increments(tables)[CONTINUED]) == [(40, 50, 1.0), (50, 60, 1.0), (50, 70, 3.0)]
    assert FROM_SCRATCH not in increments(tables)
    assert [[place.num_labels for place, _ in chain] for chain in grown_chains(tables)] == [[40, 50, 60], [40, 50, 70]]


def test_a_continued_run_is_never_paired_with_one_from_scratch(tmp_path: Path) -> None:
    store_grown(tmp_path, "fixmatch", ("50", 9.0))
    store_grown(tmp_path, "smooth", ("40-50", 8.0))
    (table,) = tabulate(find_runs([tmp_path]))
    assert all(row.comparison is None for row in table.rows)
    assert any("has no partner: fixmatch was not run with the same labels before" in note for note in table.notes)
    store_grown(tmp_path, "fixmatch", ("40-50", 8.5))
    store_grown(tmp_path, "smooth", ("50", 7.0))
    tables = tabulate(find_runs([tmp_path]))
    gains = {row.kind.grown: row.comparison.gains for row in tables[0].rows if row.comparison}
    assert gains == {"": [2.0], "after=40": [0.5]}
    together = aggregate(tables)
    assert together[Kind("smooth", False), "digits"].gains == [2.0]
    assert together[Kind("smooth", False, CONTINUED), "digits"].gains == [0.5]


def test_what_labels_a_run_had_before_is_always_in_its_name(tmp_path: Path) -> None:
    store_grown(tmp_path, "fixmatch", ("40-50", 9.0))
    store_grown(tmp_path, "smooth", ("40-50", 8.0))
    (table,) = tabulate(find_runs([tmp_path]))
    assert [row.label for row in table.rows] == ["fixmatch,after=40", "smooth,after=40"]


def test_another_split_is_compared_with_balanced_classes(tmp_path: Path) -> None:
    for fold in range(2):
        store(tmp_path, made_up("smooth", fold, 5.0))
        store(tmp_path, made_up("smooth", fold, 6.5, "split=imbalanced"))
        store(tmp_path, made_up("smooth", fold, 9.0, "split=imbalanced", "threshold=0.8"))
    (drop,) = drops(tabulate(find_runs([tmp_path])))
    assert (drop.after.split, drop.comparison.gains) == ("imbalanced", [1.5, 1.5])


def test_all_labels_are_another_task_than_few(tmp_path: Path) -> None:
    store(tmp_path, made_up("fixmatch", 0, 9.0))
    store(tmp_path, made_up("fully_supervised", 0, 2.0, "num_labels=null", labeled=list(range(1297))))
    assert [table.place.num_labels for table in tabulate(find_runs([tmp_path]))] == [40, 1297]
