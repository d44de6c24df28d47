import csv
import json
import os
import re
from pathlib import Path

import pytest

from smoothpl.cli.commands import run
from smoothpl.layout import REFUSED_JOBS
from smoothpl.run.sweep import SweepReport, note_refusal
from tests.support.made_up import made_up, store, store_all


@pytest.fixture(autouse=True)
def _narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def report(*arguments: object) -> None:
    run("report", [str(each) for each in arguments])


def refused(*arguments: object) -> str:
    with pytest.raises(SystemExit) as stop:
        report(*arguments)
    return str(stop.value)


def test_the_papers_own_runs_give_the_papers_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(store_all(tmp_path))
    shown = capsys.readouterr().out
    assert "smooth beats fixmatch on 6 of 6 folds, p = 0.0156" in " ".join(shown.split())
    assert "9.28 ± 2.95" in shown
    assert "6.79 ± 3.55" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_the_paper_is_computed_again(capsys: pytest.CaptureFixture[str]) -> None:
    report("paper")
    shown = capsys.readouterr().out
    assert "91 of 102 published figures follow" in shown
    assert "(2) Fold 0 of Smooth FixMatch is printed as 6.25" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_runs_stand_beside_the_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SMOOTHPL_DATA", str(tmp_path))
    for fold in range(6):
        store(tmp_path, made_up("fixmatch", fold, 9.0, "benchmark=cifar10_40"))
    report("paper", tmp_path)
    table = capsys.readouterr().out.split("cifar10_40, 40 labels, balanced: error of")[1].split("\n\n\n")[0]
    assert "\n fixmatch " in table
    assert "\n FixMatch (paper) " in table


def test_every_format_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = store_all(tmp_path / "runs")
    report(runs, f"out={tmp_path / 'new' / 'folder'}")
    written = {path.suffix: path.read_text() for path in (tmp_path / "new" / "folder").glob("*.*")}
    assert set(written) == {".html", ".md", ".csv", ".tex"}
    for suffix, text in written.items():
        assert ("9.275" if suffix == ".csv" else "9.28") in text
    assert "report: " + str(tmp_path / "new" / "folder" / "report.html") in capsys.readouterr().out
    rows = list(csv.reader(written[".csv"].splitlines()))
    (p,) = [row for row in rows if row and "against" in row[0] and row[1] == "smooth"]
    assert "0.015625" in p
    report(runs, f"out={tmp_path / 'one.md'}")
    assert (tmp_path / "one.md").read_text() == re.sub(r"\n!\[.*?\)\n", "", written[".md"], flags=re.DOTALL)


@pytest.mark.parametrize(("knob", "word"), [("protocol=best", "1.00 ± 0.00"), ("baseline=smooth", "against smooth")])
def test_baseline_and_protocol_can_be_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], knob: str, word: str
) -> None:
    for method in ("fixmatch", "smooth"):
        store(tmp_path, made_up(method, 0, 5.0, error_best=1.0))
    report(tmp_path, knob)
    assert word in capsys.readouterr().out


def test_what_failed_or_still_runs_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store(tmp_path, made_up("fixmatch", 0, 5.0))
    store(tmp_path, made_up("fixmatch", 1, None, status="failed", failure="ValueError: no\nmore"))
    store(tmp_path, made_up("fixmatch", 2, 4.0, status="running"))
    store(tmp_path, made_up("fixmatch", 3, None))
    monkeypatch.setenv("COLUMNS", "200")
    report(tmp_path)
    shown = capsys.readouterr().out.split("Left out", 1)[1]
    statuses = ("failed", "running, or killed", "finished without an error rate")
    for text in (*statuses, "ValueError: no", "fold=3 seed=2046"):
        assert text in shown


def test_jobs_that_a_sweep_refused_are_listed_as_at_the_end_of_the_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(tmp_path, made_up("fixmatch", 0, 5.0))
    note_refusal(tmp_path, ["method=smooth", "num_labels=7"], "num_labels=7 does not divide evenly.")
    sweep = SweepReport()
    sweep.folder = tmp_path
    sweep.conclude()
    at_the_end = capsys.readouterr().out
    kept = (tmp_path / "report.html").read_text()
    assert "method=smooth num_labels=7" in " ".join(kept.split())
    report(tmp_path, f"out={tmp_path / 'again.html'}")
    later = capsys.readouterr().out
    assert "num_labels=7 does not divide evenly." in kept
    assert (tmp_path / "again.html").read_text() == kept
    assert at_the_end.splitlines()[1:-1] == later.splitlines()[:-1]  # but for the rule above and the place below
    (tmp_path / REFUSED_JOBS).unlink()
    report(tmp_path)
    assert "refused" not in capsys.readouterr().out


def test_a_sweep_of_which_every_job_was_refused_has_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note_refusal(tmp_path, ["method=smooth", "num_labels=7"], "num_labels=7 does not divide evenly.")
    report(tmp_path, f"out={tmp_path / 'report.md'}")
    assert "refused" in capsys.readouterr().out
    assert "0 runs, 0 of them finished; 1 job refused." in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "no folder of runs is named; --help says more"),
        (["nowhere"], "nowhere is not a folder"),
        (["."], "no run.json below ."),
        (["paper", "colour=red"], "colour=red is not an option of the report"),
        (["paper", "protocol=first"], "protocol=first must be one of last, best, median20"),
        (["paper", "statistics=t"], "statistics=t must be one of exact, pratt, paper"),
        (["paper", "duplicates=mean"], "duplicates=mean must be one of error, newest, oldest"),
        (["paper", "out=report.pdf"], "out=report.pdf must end with .html, .md, .csv, .tex, or be a folder"),
    ],
)
def test_what_cannot_be_reported_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert complaint in refused(*arguments)


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    store(tmp_path, made_up("fixmatch", 0, 5.0))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text(json.dumps({"what": "else"}))
    report(tmp_path, f"out={tmp_path / 'report.md'}")
    assert "run.json is not a record of smoothpl; move it away" in (tmp_path / "report.md").read_text()


def test_a_place_that_cannot_be_written_to_is_said_and_nothing_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store_all(tmp_path / "runs")
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "report.html" if os.geteuid() == 0 else Path("/report.html")
    assert "name a place that can be written to" in refused(tmp_path / "runs", f"out={place}")
    assert "9.28 ± 2.95" in capsys.readouterr().out


def test_errors_that_are_not_finite_do_not_stop_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A diverged run that finished: its error is null in the file."""
    store(tmp_path, made_up("fixmatch", 0, float("nan")))
    store(tmp_path, made_up("smooth", 0, 5.0))
    report(tmp_path)
    assert "no run of fixmatch to compare with" in capsys.readouterr().out


def test_help_shows_how_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        report("--help")
    assert "statistics=exact" in capsys.readouterr().out
