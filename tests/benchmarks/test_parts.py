"""Benchmarks must not rot: each is run, in a hurry. How fast anything is, is never asserted."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig

from benchmarks import (
    crowd,
    diagnostics,
    ema,
    estimate,
    evaluation,
    features,
    folder,
    gpu,
    inference,
    memory,
    one_core,
    pictures,
    plain_loop,
    profile,
    report,
    sampler,
    scaling,
    start,
    step,
    sweep,
    views,
    waits,
    weighting,
)
from smoothpl.config.compose import compose_checked
from smoothpl.record.record import Record, write
from smoothpl.run import hydra_sweeper as jobs
from tests.support.real import needs_cifar10

TABLE: dict[Any, list[tuple[str, str, str]]] = {
    views: [("µs", "Pillow, image by image", "≥ 20")],
    sampler: [("ms", "reading them, and their views", ""), ("MB", "a list of all indices, TorchSSL", "≤ 1 MB")],
    weighting: [("ms", "", ""), ("ms", "Counter over a list", "≤ 0.5 ms")],
    ema: [("ms", "a loop over parameters", "≥ 3")],
    step: [
        *(("ms", "bare forward, backward, SGD", target) for target in ("≤ 1.05", "")),
        ("ms", "the usual loop", "≥ 1.4"),
    ],
    crowd: 2
    * [
        *(("ms", "the same step alone", target) for target in ("≤ 2.2", "")),
        ("ms", "threads that spin", "≤ 1.03"),
    ],
    one_core: [("ms", "the usual loop", "≥ 1.1")],
    evaluation: [("s", "forward alone", "≤ 1.05")],
    pictures: 2 * [("ms", "decode and crop only", "≤ 1.1"), ("ms", "the same", "")],
    folder: [
        *(("s", "decoding and resizing alone", target) for target in ("", "≥ 0.9")),
        ("s", "decoding, resizing and the network alone", "≥ 0.9"),
        ("MB", "a tenth of them", "≤ 1.1"),
    ],
    features: [
        ("s", "ONNX Runtime over prepared tensors", "≥ 0.9"),
        ("MB", "a quarter of them", "≤ 1.1"),
        ("s", "the first, which makes features", ""),
        ("ms", "its bare products", "≤ 1.5"),
    ],
    inference: len(inference.COUNTS) * [("ms", "torch, channels last", "≥ 1")],
    report: [("s", "over 4", "≤ 30 s"), ("MB", "over 4", "")],
    start: [("s", "imports, reading the files", "≤ 1.1"), *2 * [("s", "", "≤ 1.5 s")]],
}
"""The lines of every part: unit, what it is compared with, and what should come out."""


@needs_cifar10
@pytest.mark.parametrize("part", TABLE)
def test_every_part_measures_what_it_says_in_its_unit_against_its_reference_and_target(part: Any) -> None:
    lines = list(part.lines())
    assert [(line.unit, line.against, line.target) for line in lines] == TABLE[part]
    assert len({line.what for line in lines}) == len(lines)
    for line in lines:
        assert 0 < line.ours < 1e6 or (line.unit == "MB" and line.ours == 0)  # memory that was there before
        assert (line.reference is None) == (line.against == "")
        assert line.reference is None or 0 < line.reference < 1e6
        assert (line.holds is None) == (line.target == "")


@needs_cifar10
@pytest.mark.parametrize(
    ("part", "jobs", "values"),
    [
        (views, ["one_by_one", "batched"] * 2, [((3 + 3) * 1e6 / 8, (2 + 2) * 1e6 / 8)]),
        (sampler, ["choose", "<lambda>"], [(2e3, 3e3)]),
        (weighting, ["step", "step", "<lambda>"], [(2e3, None), (3e3, 5e3)]),
        (ema, ["<lambda>", "one_by_one"], [(2e3, 3e3)]),
    ],
)
def test_a_line_is_made_of_both_measurements(
    part: Any, jobs: list[str], values: list[tuple[float, float | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every job is run; its time is made up: 2, 3 or 5 seconds, by its place."""
    measured = []

    def compare(*jobs: Callable[[], object]) -> list[float]:
        for job in jobs:
            job()
            measured.append(job.__name__)
        return [2.0, 3.0, 5.0][: len(jobs)]

    monkeypatch.setattr(part, "compare", compare)
    lines = list(part.lines())[: len(values)]
    assert [(line.ours, line.reference) for line in lines] == values
    assert measured == jobs


def test_memory_is_compared_with_what_cannot_be_avoided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "data_folder", lambda: "")
    monkeypatch.setattr(memory, "peak", {"run": 450, "bare": 300, "step": 900}.__getitem__)
    whole, difference, of_step = memory.lines()
    assert (whole.ours, whole.reference, whole.unit) == (450, 300, "MB")
    assert (difference.ours, difference.target, difference.holds) == (150, "≤ 200 MB", True)
    assert of_step.ours == 900
    assert of_step.reference == pytest.approx(900, rel=0.1)


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
    assert (line.unit, line.against) == ("ms", "a step")
    assert line.reference is not None
    assert 0 < line.ours < 60_000
    assert 0 < line.reference < 60_000


@needs_cifar10
def test_the_step_waits_for_nothing_and_the_usual_loop_does() -> None:
    waiting, breaks = waits.lines()
    assert (waiting.ours, breaks.ours) == (0, 0)
    assert waiting.reference is not None
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
def test_the_time_of_a_step_is_divided_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
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


def test_all_ways_to_compute_a_network_are_in_one_table() -> None:
    heads, _, *rows, (imports,) = [
        [cell.strip() for cell in row.strip("| ").split("|")] for row in inference.table(inference.COUNTS)
    ]
    assert float(imports.removesuffix(" s").split()[-1]) >= 0
    assert len(rows) == len(inference.COUNTS) * 2 * len(inference.NETWORKS)
    for row in rows:
        times = [float(cell.removesuffix(" ms")) for cell in row[4:8]]
        assert len(row) == len(heads)
        assert min(times) > 0
        assert float(row[8]) == pytest.approx(times[0] / times[3], rel=0.05)
        assert float(row[9]) == pytest.approx(min(times[1:3]) / times[3], rel=0.05)


def test_a_run_on_gpus_is_estimated(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    counted = list[int]()  # that it is counted rightly, other tests know; twelve times takes long

    def pretend(config: DictConfig) -> int:
        counted.append(config.trainer.devices)
        return 10**9

    monkeypatch.setattr(estimate, "count", pretend)
    joint, split = (estimate.estimate("cifar10_40", forward).operations for forward in ("joint", "split"))
    assert 0.6 < split / joint < 0.7
    estimate.main()
    assert "cifar10_40, split" in capsys.readouterr().out
    assert counted == 6 * [1, 8]


def test_without_a_gpu_there_is_nothing_to_measure_on_it() -> None:
    assert list(gpu.lines()) == []


def test_without_data_a_benchmark_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SMOOTHPL_DATA", raising=False)
    with pytest.raises(SystemExit, match="set the environment variable SMOOTHPL_DATA"):
        list(views.lines())
