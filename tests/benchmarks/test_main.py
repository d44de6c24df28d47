import json
import sys
from importlib import import_module
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import __main__ as all_of_them


def test_a_part_is_measured_in_a_process_of_its_own_and_tells_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert all_of_them.measure("gpu") == []
    all_of_them.tell("weighting")
    fixed, curriculum = all_of_them.read_lines(capsys.readouterr().out)
    assert fixed.what == "weighting of FixMatch, a step"
    assert curriculum.limit == 0.5
    with pytest.raises(SystemExit):
        all_of_them.measure("luck")


def test_one_table_with_what_was_before_and_a_file_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_of_them, "measure", lambda part: list(import_module(f"benchmarks.{part}").lines()))
    console = Console(width=100, record=True, file=StringIO())
    all_of_them.run(["weighting", "ema"], tmp_path / "out", console)
    (first,) = (tmp_path / "out").glob("*.json")
    first.rename(tmp_path / "out" / "2000.json")
    written = json.loads((tmp_path / "out" / "2000.json").read_text())
    assert written["lines"][0]["what"] == "weighting of FixMatch, a step"
    assert written["machine"]["cores"] >= 1
    assert "attach" not in console.export_text(clear=False)
    monkeypatch.setattr(all_of_them, "describe_machine", lambda: {"gpus": [{"name": "A100"}]})
    all_of_them.run(["ema"], tmp_path / "out", console)
    shown = console.export_text()
    assert "before" in shown
    assert "please attach" in shown
    assert shown.count("update of the average") == 2


def test_an_unknown_part_is_refused_and_help_is_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "luck"])
    with pytest.raises(SystemExit, match="luck is not a part of the benchmarks; the parts are views"):
        all_of_them.main()
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--help"])
    all_of_them.main()
    assert "python -m benchmarks [part ...]" in capsys.readouterr().out
