from pathlib import Path
from typing import Any

import pytest

from smoothpl.errors import ConfigError
from smoothpl.results.runs import Run, find_runs
from smoothpl.results.tables import tabulate
from tests.support.made_up import PAPERS, made_up, of, only, store, store_all


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
    assert table.notes == [f"smooth, fold=0 seed=2046: not compared, because fixmatch had other {what}"]


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


def test_a_baseline_without_the_same_value_is_no_partner(tmp_path: Path) -> None:
    for threshold in (0.8, 0.9):
        store(tmp_path, made_up("fixmatch", 0, 9.0, f"threshold={threshold}"))
    store(tmp_path, made_up("smooth", 0, 8.0, "threshold=0.7"))
    (note,) = only(tabulate(find_runs([tmp_path]))).notes
    assert note.startswith("smooth,threshold=0.7 has no partner: fixmatch was not run with")
    assert "threshold=0.7" in note


def test_knobs_are_kept_once_for_all_runs_of_a_recipe(tmp_path: Path) -> None:
    runs: list[Run] = find_runs([store_all(tmp_path)])
    assert len({id(run.knobs) for run in runs}) == 3


def test_a_knob_that_a_method_does_not_have_is_no_reason_against_a_partner(tmp_path: Path) -> None:
    for threshold in (0.9, 0.95):
        store(tmp_path, made_up("fixmatch", 0, 9.0, f"threshold={threshold}"))
    store(tmp_path, made_up("supervised", 0, 12.0))
    table = only(tabulate(find_runs([tmp_path])))
    assert of(table, "supervised").comparison.gains == [-3.0]
    assert any("the simplest of 2 possible partners" in note for note in table.notes)


@pytest.mark.parametrize(
    ("knob", "difference"),
    [("max_steps=100", "max_steps 1000 and 100"), ("batch_size=8", "batch_size 16 and 8"), ("net=wrn_28_2", "net.")],
)
def test_recipes_with_another_budget_are_not_compared(tmp_path: Path, knob: str, difference: str) -> None:
    store(tmp_path, made_up("fixmatch", 0, 9.0, knob))
    store(tmp_path, made_up("smooth", 0, 8.0))
    table = only(tabulate(find_runs([tmp_path])))
    (note,) = table.notes
    assert f"is not compared with fixmatch,{knob}, which had another budget: {difference}" in note
    assert of(table, "smooth").comparison is None
    store(tmp_path, made_up("fixmatch", 0, 9.5))
    assert of(only(tabulate(find_runs([tmp_path]))), "smooth").comparison.gains == [1.5]


def test_another_number_of_unlabeled_images_is_said(tmp_path: Path) -> None:
    store(tmp_path, made_up("fixmatch", 0, 9.0, "unlabeled_ratio=3"))
    store(tmp_path, made_up("smooth", 0, 8.0))
    table = only(tabulate(find_runs([tmp_path])))
    (note,) = table.notes
    assert note.endswith("differ in more than the method: unlabeled_ratio 7 and 3")
    assert of(table, "smooth").comparison.gains == [1.0]
