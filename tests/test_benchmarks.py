"""Benchmarks must not rot: each is run, in a hurry. What they measure is never asserted."""

import json
import os
import sys
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from benchmarks import __main__ as all_of_them
from benchmarks import (
    diagnostics,
    ema,
    estimate,
    folder,
    gpu,
    memory,
    pictures,
    plain_loop,
    profile,
    report,
    sampler,
    scaling,
    start,
    step,
    sweep,
    timing,
    views,
    waits,
    weighting,
)
from benchmarks.line import Line, tabulate
from smoothpl import jobs
from smoothpl.cli.arguments import compose_checked
from smoothpl.record.record import Record, write
from tests.data.real import needs_cifar10

hurried = partial(timing.compare, turns=1, seconds=0.001)


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    for part in (views, sampler, weighting, ema):
        monkeypatch.setattr(part, "compare", hurried)
    values: dict[Any, dict[str, Any]] = {
        views: {"SIZE": 8},
        weighting: {"LABELED": 2, "UNLABELED": 4},
        plain_loop: {"NUM_IMAGES": 100, "RESTING": 0},
        step: {"TURNS": 1, "SHORTEST": 0.01, "SMALL": 1, "WORKERS": 0, "AGAINST_LOOP": {"": 1.4}}
        | dict.fromkeys(("CIFAR", "DIGITS"), ("batch_size=2",)),
        pictures: {"NUM_FILES": 4, "BATCH": 2, "STEPS": 3, "TURNS": 1},
        report: {"MANY": 40, "METHODS": ("fixmatch", "smooth"), "THRESHOLDS": (0.95,)},
        folder: {"NUM_FILES": 20},
        profile: {"STEPS": 1, "WARM": 1, "SMALL": 1},
        start: {"TIMES": 1},
        diagnostics: {"STEPS": 2, "KINDS": [("benchmark=digits_40", "batch_size=4", "threshold=0.12")]},
        scaling: {
            "TURNS": 1,
            "VALUES": {"classes": [10], "unlabeled_images": [50], "unlabeled_of_a_step": [7], "processes": [2]},
        },
    }
    for part, constants in values.items():
        for name, value in constants.items():
            monkeypatch.setattr(part, name, value)


def test_compare_tells_the_slower_job_from_the_faster_one() -> None:
    slow, fast = timing.compare(lambda: sum(range(100_000)), lambda: sum(range(100)), turns=2, seconds=0.01)
    assert slow > fast > 0


@needs_cifar10
@pytest.mark.parametrize("part", [views, sampler, weighting, ema, step, pictures, folder, report, start])
def test_every_part_measures_what_it_says(part: Any) -> None:
    lines = list(part.lines())
    assert lines
    assert all(line.what and line.ours >= 0 for line in lines)
    assert len({line.what for line in lines}) == len(lines)


def test_a_sweep_is_compared_with_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands compose; that they run, other tests know."""

    def pretend(folder: str, *words: str) -> None:
        for job in jobs.expand([word for word in words if word != "-m" and not word.startswith("hydra")]):
            compose_checked(job)
        record = Record({"num_labels": 40}, "", duration=2.0)
        (Path(folder) / "alone").mkdir(exist_ok=True)
        write(Path(folder) / "alone", record)

    monkeypatch.setattr(sweep, "train", pretend)
    (line,) = sweep.lines()
    assert line.reference == sweep.RUNS * 2.0 / len(os.sched_getaffinity(0))


@needs_cifar10
def test_the_cost_of_watching_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name in [each for methods in diagnostics.PARTS.values() for each in methods]:
        monkeypatch.setattr(owner, name, getattr(owner, name))  # so that no other test is timed
    (line,) = diagnostics.lines()
    assert 0 < line.ours < 60_000


@needs_cifar10
def test_the_step_waits_for_nothing_and_the_usual_loop_does() -> None:
    waiting, breaks = waits.lines()
    assert (waiting.ours, breaks.ours) == (0, 0)
    assert waiting.reference >= 4


@needs_cifar10
def test_the_usual_loop_learns() -> None:
    """A reference that does nothing would be easy to beat."""
    loop = plain_loop.PlainLoop(batch_size=2, num_workers=0)
    before = [parameter.clone() for parameter in loop.network.parameters()]
    for _ in range(2):
        loop.step()
    assert len(loop.log) == 2
    assert any((one != other).any() for one, other in zip(before, loop.network.parameters(), strict=True))


@needs_cifar10
@pytest.mark.parametrize("what", ["run", "bare"])
def test_memory_is_measured(what: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CIFAR", ("benchmark=cifar10_40", "batch_size=1"))
    monkeypatch.setattr(memory, "STEPS", 1)
    memory.print_peak(what)
    assert int(capsys.readouterr().out.split()[-1]) > 100


@needs_cifar10
def test_the_time_of_a_step_is_told_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    profile.main(["forward=split"])
    rows = [row.split("|") for row in capsys.readouterr().out.splitlines() if row.startswith("|")][2:]
    *parts, whole = [[float(cell) for cell in row[2:4]] for row in rows]
    assert parts[0][1] > 0
    for column in (0, 1):
        assert sum(part[column] for part in parts) == pytest.approx(whole[column], abs=len(parts))


def test_costs_are_drawn_as_problems_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["scaling", f"out={tmp_path / 'scaling.png'}"])
    scaling.main()
    assert (tmp_path / "scaling.png").stat().st_size > 1000


def test_a_run_on_gpus_is_estimated(capsys: pytest.CaptureFixture[str]) -> None:
    joint, split = (estimate.estimate("cifar10_40", forward).operations for forward in ("joint", "split"))
    assert 0.6 < split / joint < 0.7
    estimate.main()
    assert "cifar10_40, split" in capsys.readouterr().out


def test_without_a_gpu_there_is_nothing_to_measure_on_it() -> None:
    assert list(gpu.lines()) == []


def test_without_data_a_benchmark_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SMOOTHPL_DATA", raising=False)
    with pytest.raises(SystemExit, match="set the environment variable SMOOTHPL_DATA"):
        list(views.lines())


@pytest.mark.parametrize(
    ("line", "ratio", "target", "holds"),
    [
        (Line("a", 2.0, 40.0, "ms", "b", at_least=20), 20, "≥ 20", True),
        (Line("a", 2.1, 40.0, "ms", "b", at_least=20), 19.05, "≥ 20", False),
        (Line("a", 1.05, 1.0, "ms", "b", at_most=1.05), 1.05, "≤ 1.05", True),
        (Line("a", 1.1, 1.0, "ms", "b", at_most=1.05), 1.1, "≤ 1.05", False),
        (Line("a", 0.4, 5.0, "ms", "b", limit=0.5), 0.08, "≤ 0.5 ms", True),
        (Line("a", 0.6, None, "ms", "", limit=0.5), None, "≤ 0.5 ms", False),
        (Line("a", 0.6, 1.0, "ms", "b"), 0.6, "", None),
    ],
)
def test_a_line_knows_whether_its_target_is_met(line: Line, ratio: float | None, target: str, holds: bool) -> None:
    assert line.ratio == (None if ratio is None else pytest.approx(ratio, rel=1e-3))
    assert (line.target, line.holds) == (target, holds)


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
    all_of_them.run(["ema"], tmp_path / "out", console)
    shown = console.export_text()
    assert "before" in shown
    assert shown.count("update of the average") == 2


def test_an_unknown_part_is_refused_and_help_is_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "luck"])
    with pytest.raises(SystemExit, match="luck is no part of the benchmarks; known are views"):
        all_of_them.main()
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--help"])
    all_of_them.main()
    assert "python -m benchmarks [part ...]" in capsys.readouterr().out
    assert tabulate([]).row_count == 0
