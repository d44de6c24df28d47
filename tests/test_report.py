import csv
import json
import os
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from smoothpl.cli.front_door import run_command
from smoothpl.report import main
from tests.results.made_up import made_up, store, store_all


def report(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["report", *map(str, arguments)])
    monkeypatch.setenv("COLUMNS", "80")
    run_command(main)


def refused(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> str:
    with pytest.raises(SystemExit) as stop:
        report(monkeypatch, *arguments)
    return str(stop.value)


def test_the_papers_own_runs_give_the_papers_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report(monkeypatch, store_all(tmp_path))
    shown = capsys.readouterr().out
    assert "smooth beats fixmatch on 6 of 6 runs, p = 0.0156" in " ".join(shown.split())
    assert "9.28 ± 2.95" in shown
    assert "6.79 ± 3.55" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_the_paper_is_made_again(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    report(monkeypatch, "paper")
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
    report(monkeypatch, "paper", tmp_path)
    table = capsys.readouterr().out.split("cifar10_40, 40 labels, balanced: error of")[1].split("\n\n\n")[0]
    assert "\n fixmatch " in table
    assert "\n FixMatch (paper) " in table


def test_every_format_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = store_all(tmp_path / "runs")
    report(monkeypatch, runs, f"out={tmp_path / 'new' / 'folder'}")
    written = {path.suffix: path.read_text() for path in (tmp_path / "new" / "folder").glob("*.*")}
    assert set(written) == {".html", ".md", ".csv", ".tex"}
    for suffix, text in written.items():
        assert ("9.275" if suffix == ".csv" else "9.28") in text
    assert "report: " + str(tmp_path / "new" / "folder" / "report.html") in capsys.readouterr().out
    rows = list(csv.reader(written[".csv"].splitlines()))
    (p,) = [row for row in rows if row and "against" in row[0] and row[1] == "smooth"]
    assert "0.015625" in p
    report(monkeypatch, runs, f"out={tmp_path / 'one.md'}")
    assert (tmp_path / "one.md").read_text() == re.sub(r"\n!\[.*?\)\n", "", written[".md"], flags=re.DOTALL)


def test_pictures_stand_beside_the_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in a file of its own, with colours of its own, and where the Markdown looks for it."""
    report(monkeypatch, store_all(tmp_path / "runs"), f"out={tmp_path / 'all'}")
    named = re.findall(r"!\[[^\]]+\]\((\S+)\)", (tmp_path / "all" / "report.md").read_text())
    assert len(named) == len(set(named)) == 6  # errors, gains, curves, and a confusion for each of three methods
    for name in named:
        root = ElementTree.parse(tmp_path / "all" / name).getroot()
        assert root.tag.endswith("svg")
        assert "currentColor" not in (tmp_path / "all" / name).read_text()


@pytest.mark.parametrize(("knob", "word"), [("protocol=best", "1.00 ± 0.00"), ("baseline=smooth", "against smooth")])
def test_baseline_and_protocol_can_be_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], knob: str, word: str
) -> None:
    for method in ("fixmatch", "smooth"):
        store(tmp_path, made_up(method, 0, 5.0, error_best=1.0))
    report(monkeypatch, tmp_path, knob)
    assert word in capsys.readouterr().out


def test_what_failed_or_still_runs_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store(tmp_path, made_up("fixmatch", 0, 5.0))
    store(tmp_path, made_up("fixmatch", 1, None, status="failed", failure="ValueError: no\nmore"))
    store(tmp_path, made_up("fixmatch", 2, 4.0, status="running"))
    store(tmp_path, made_up("fixmatch", 3, None))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "argv", ["report", str(tmp_path)])
    run_command(main)
    shown = capsys.readouterr().out.split("Left out", 1)[1]
    statuses = ("failed", "running, or killed", "finished without an error rate")
    for words in (*statuses, "ValueError: no", "fold=3 seed=2046"):
        assert words in shown


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "no runs are named; --help shows how it is called"),
        (["nowhere"], "nowhere is no folder"),
        (["."], "no run.json below ."),
        (["paper", "colour=red"], "colour=red is not a knob of the report"),
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
    assert complaint in refused(monkeypatch, *arguments)


def test_a_damaged_record_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store(tmp_path, made_up("fixmatch", 0, 5.0))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text(json.dumps({"what": "else"}))
    report(monkeypatch, tmp_path, f"out={tmp_path / 'report.md'}")
    assert "run.json is not a record of smoothpl; move it away" in (tmp_path / "report.md").read_text()


def test_a_place_that_cannot_be_written_to_is_said_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store_all(tmp_path / "runs")
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "report.html" if os.geteuid() == 0 else Path("/report.html")
    assert "name a place that can be written to" in refused(monkeypatch, tmp_path / "runs", f"out={place}")
    assert "9.28 ± 2.95" in capsys.readouterr().out


def test_numbers_that_are_none_do_not_stop_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A diverged run that finished: its error is null in the file."""
    store(tmp_path, made_up("fixmatch", 0, float("nan")))
    store(tmp_path, made_up("smooth", 0, 5.0))
    report(monkeypatch, tmp_path)
    assert "no run of fixmatch to compare with" in capsys.readouterr().out


def test_help_shows_how_it_is_called(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["report", "--help"])
    with pytest.raises(SystemExit):
        main()
    assert "statistics=exact" in capsys.readouterr().out
