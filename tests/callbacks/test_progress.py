import io
import re
from pathlib import Path
from typing import Any

import pytest
from lightning import Callback, LightningModule, Trainer
from rich.console import Console

from smoothpl.callbacks import ProgressReport, progress
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries
from tests.support.composing import TINY, composed


def shown(tmp_path: Path, terminal: bool, *overrides: str) -> str:
    quiet_libraries()
    console = Console(file=io.StringIO(), force_terminal=terminal, width=80, color_system=None)
    config = composed(*TINY, "logger=none", *overrides)
    trainer = build_trainer(config, tmp_path, [ProgressReport(every=2, console=console)])
    try:
        trainer.fit(build_module(config), datamodule=build_data(config))
    finally:
        output = console.file.getvalue()  # type: ignore[attr-defined]
    return str(output)


def test_without_a_terminal_every_evaluation_is_a_plain_line(tmp_path: Path) -> None:
    lines = shown(tmp_path, False).splitlines()
    assert len(lines) == 2
    for line, step in zip(lines, (2, 4), strict=True):
        assert re.fullmatch(rf"step {step}/4  loss \d+\.\d{{3}}  coverage \d+%  error \d+\.\d\d %  \d+:\d\d left", line)


def test_without_a_terminal_a_long_wait_is_broken_by_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST_LINE", 0)
    lines = shown(tmp_path, False, "eval_every=4", "max_steps=8").splitlines()
    assert [line.split("  ")[0] for line in lines] == ["step 1/8", "step 4/8", "step 8/8"]
    monkeypatch.setattr(progress, "NEXT_LINES", 0)
    lines = shown(tmp_path, False, "eval_every=4").splitlines()
    assert [line.split("  ")[0] for line in lines] == ["step 1/4", "step 2/4", "step 3/4", "step 4/4", "step 4/4"]


def test_a_sanity_check_is_no_evaluation(tmp_path: Path) -> None:
    assert len(shown(tmp_path, False, "trainer.num_sanity_val_steps=1").splitlines()) == 2


def test_in_a_terminal_there_is_one_bar_that_fits_80_columns(tmp_path: Path) -> None:
    last = shown(tmp_path, True).split("\r")[-1].splitlines()[0]
    last = re.sub(r"\x1b\[[0-9?]*[A-Za-z]", "", last)
    assert len(last) <= 80
    for word in ("step", "4/4", "loss", "coverage", "error", "left"):
        assert word in last


def test_the_bar_gives_the_cursor_back_when_training_fails(tmp_path: Path) -> None:
    class Fail(Callback):
        def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
            raise RuntimeError("failed")

    console = Console(file=io.StringIO(), force_terminal=True)
    config = composed(*TINY, "logger=none")
    quiet_libraries()
    report = ProgressReport(console=console)
    with pytest.raises(RuntimeError, match="failed"):
        build_trainer(config, tmp_path, [report, Fail()]).fit(build_module(config), datamodule=build_data(config))
    assert report.bar is None
    assert "\x1b[?25h" in console.file.getvalue()  # type: ignore[attr-defined]
