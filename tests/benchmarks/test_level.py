import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import level
from benchmarks.level import EXACT, FASTER, main, table
from smoothpl.record.record import new_record, write
from tests.support.composing import composed

BF16, SPLIT = FASTER


def test_gains_are_paired_by_fold_and_have_an_interval() -> None:
    exact, half, split = table("digits", {EXACT: [4.0, 5.0, 6.0], BF16: [4.5, 4.0, 6.0], SPLIT: [3.0, 4.0, 5.0]}).rows
    assert [cell.text for cell in exact] == [EXACT, "5.00 ± 0.82", "", ""]
    assert half[2].text.startswith("0.17 (-0.50…")
    assert [cell.text for cell in half[3:]] == ["1, 1 of 3"]
    assert [cell.text for cell in split[2:]] == ["1.00 (1.00…1.00)", "3, 0 of 3"]


def test_every_kind_is_trained_on_every_fold_and_what_is_finished_is_left_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[str]] = []

    def pretend(command: list[str], **_: Any) -> None:
        commands.append(command)
        (run_dir,) = (Path(word.partition("=")[2]) for word in command if word.startswith("hydra.run.dir="))
        run_dir.mkdir(parents=True)
        record = new_record(composed())
        record.error, record.status = (3.0 if BF16 in command else 4.0), "finished"
        write(run_dir, record)

    monkeypatch.setattr(level, "subprocess", SimpleNamespace(run=pretend, DEVNULL=subprocess.DEVNULL))
    monkeypatch.setattr(level, "FOLDS", 2)
    main(tmp_path / "digits", ["method=fixmatch"])
    assert len(commands) == 6
    assert all({"method=fixmatch", "resume=auto"} <= {*command} for command in commands)
    assert [command[3] for command in commands] == 3 * ["fold=0"] + 3 * ["fold=1"]
    printed = capsys.readouterr().out
    assert f"fold 1, {SPLIT}: 3.00 %" in printed
    assert f"| {SPLIT} | 3.00 ± 0.00 | 1.00 (1.00…1.00) | 2, 0 of 2 |" in printed
