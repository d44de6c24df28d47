from pathlib import Path

from smoothpl.results.runs import find_runs
from smoothpl.results.tables import continuations, drops, increments, tabulate
from tests.results.made_up import made_up, store


def test_more_labels_are_compared_with_fewer(tmp_path: Path) -> None:
    for num_labels, errors in ((40, [9.0, 8.0]), (50, [7.0, 8.5]), (60, [6.0, 6.0])):
        for fold, error in enumerate(errors):
            store(tmp_path, made_up("smooth", fold, error, "split=random", f"num_labels={num_labels}"))
    first, second = increments(tabulate(find_runs([tmp_path])))
    assert (first.before.num_labels, first.after.num_labels, first.comparison.gains) == (40, 50, [2.0, -0.5])
    assert (second.before.num_labels, second.after.num_labels, second.comparison.gains) == (50, 60, [1.0, 2.5])


def test_going_on_with_more_labels_is_told_apart_from_training_anew_and_compared_with_it(tmp_path: Path) -> None:
    anew = {40: [9.0, 8.0], 50: [7.0, 8.5], 60: [6.0, 6.0]}
    grown = {50: ([40], [6.0, 7.5]), 60: ([40, 50], [7.0, 4.0])}
    for fold in range(2):
        for num_labels, errors in anew.items():
            store(tmp_path, made_up("smooth", fold, errors[fold], "split=random", f"num_labels={num_labels}"))
        for num_labels, (before, errors) in grown.items():
            words = ("split=random", f"num_labels={num_labels}", f"labels_before={before}")
            store(tmp_path, made_up("smooth", fold, errors[fold], *words))
    tables = tabulate(find_runs([tmp_path]))
    steps = {
        (step.label.endswith("going on"), step.after.num_labels): step.comparison.gains for step in increments(tables)
    }
    assert steps == {
        (False, 50): [2.0, -0.5],
        (False, 60): [1.0, 2.5],
        (True, 50): [3.0, 0.5],
        (True, 60): [-1.0, 3.5],
    }
    assert [(step.after.num_labels, step.comparison.gains) for step in continuations(tables)] == [
        (50, [1.0, 1.0]),
        (60, [-1.0, 2.0]),
    ]


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
