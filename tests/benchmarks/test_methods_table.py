import json
from pathlib import Path

import pytest

from benchmarks.methods_table import main, table
from smoothpl.layout import REFUSED_JOBS
from tests.support.made_up import made_up, store

ERRORS = {
    "supervised": ("supervised", [20.0, 30.0, 40.0, 50.0, 60.0, 70.0]),
    "fixmatch": ("fixmatch", [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]),
    "fixmatch,shape=linear": ("fixmatch", [9.0, 19.0, 29.0, 41.0, 48.0, 58.0]),
    "mean_teacher": ("mean_teacher", [12.0, 22.0]),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "digits_40"
    for sweep, (method, errors) in ERRORS.items():
        for fold, error in enumerate(errors):
            store(folder / sweep, made_up(method, fold, error, *sweep.split(",")[1:]))
    store(folder / "mean_teacher", made_up("mean_teacher", 5, None, status="interrupted"))
    return folder


def test_every_method_has_a_row_with_its_gains_by_fold_and_its_smooth_version_beside_it(trained: Path) -> None:
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in table(trained).rows}
    assert [*rows] == ["supervised", "fixmatch", "mean_teacher"]
    assert rows["supervised"] == ["45.00 ± 17.08", "-10.00 (-10.00…-10.00), 0-6", "0.00 (0.00…0.00), 0-0", "", "", ""]
    error, _, over_labels, words, smooth, by_smoothing = rows["fixmatch"]
    assert (error, over_labels) == ("35.00 ± 17.08", "10.00 (10.00…10.00), 6-0")
    assert (words, smooth) == ("shape=linear", "34.00 ± 16.81")
    assert by_smoothing.startswith("1.00 (")
    assert by_smoothing.endswith("), 5-1")


def test_runs_that_are_missing_are_counted_and_not_made_up(trained: Path) -> None:
    (row,) = [row for row in table(trained).rows if row[0].text == "mean_teacher"]
    assert row[1].text == "17.00 ± 5.00 (2 runs)"
    assert row[2].text == "-2.00 (-2.00…-2.00), 0-2"  # against fixmatch on the same two folds
    assert row[4].text == "as published"


def test_a_method_that_does_not_go_with_a_task_is_in_its_table(tmp_path: Path) -> None:
    folder = tmp_path / "features"
    store(folder / "fixmatch", made_up("fixmatch", 0, 30.0))
    (folder / "dst").mkdir()
    (folder / "dst" / REFUSED_JOBS).write_text(json.dumps({"words": ["method=dst"], "why": "needs its own"}) + "\n")
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in table(folder).rows}
    assert rows["dst"] == ["refused", "", "", "as published", "", ""]


def test_it_is_said_how_often_smoothing_helps(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([trained])
    printed = capsys.readouterr().out
    assert printed.startswith("### digits\\_40\n")
    assert "1 have a lower mean error with it and 0 a higher one; the mean of these gains is 1.00 points." in printed
