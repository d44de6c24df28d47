"""Benchmarks must not rot: each is run, in a hurry. What they measure is never asserted."""

import sys
from functools import partial

import pytest

from benchmarks import diagnostics, engine, pictures, report, steps, timing, views, weighting
from tests.data.real import needs_cifar10

hurried = partial(timing.compare, turns=1, seconds=0.001)


def test_compare_tells_the_slower_job_from_the_faster_one() -> None:
    slow, fast = timing.compare(lambda: sum(range(100_000)), lambda: sum(range(100)), turns=2, seconds=0.01)
    assert slow > fast > 0


@needs_cifar10
def test_views_are_compared_with_pillow(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(views, "compare", hurried)
    monkeypatch.setattr(views, "SIZE", 8)
    views.main()
    assert "pair" in capsys.readouterr().out


@needs_cifar10
def test_the_choice_of_images_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(steps, "compare", hurried)
    steps.main()
    assert "share of the choice" in capsys.readouterr().out


@needs_cifar10
def test_pictures_per_second_are_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("NUM_FILES", 4), ("BATCH", 2), ("STEPS", 3), ("TURNS", 1)):
        monkeypatch.setattr(pictures, name, value)
    pictures.main()
    assert "2 parts of each" in capsys.readouterr().out


def test_a_whole_step_is_compared_with_a_bare_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "TURNS", 1)
    monkeypatch.setattr(engine, "SHORTEST", 0.01)
    assert all(0 < seconds < 60 for seconds in engine.step_of(*engine.DIGITS))


def test_the_weighting_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(weighting, "compare", hurried)
    monkeypatch.setattr(weighting, "LABELED", 2)
    monkeypatch.setattr(weighting, "UNLABELED", 4)
    weighting.main()
    assert "weighting of FlexMatch" in capsys.readouterr().out


def test_without_data_a_benchmark_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SMOOTHPL_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", ["views"])
    with pytest.raises(SystemExit, match="set the environment variable SMOOTHPL_DATA"):
        views.main()


@needs_cifar10
def test_the_cost_of_watching_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(diagnostics, "STEPS", 2)
    monkeypatch.setattr(diagnostics, "KINDS", [("benchmark=digits_40", "batch_size=4", "threshold=0.12")])
    for owner, name in [each for methods in diagnostics.PARTS.values() for each in methods]:
        monkeypatch.setattr(owner, name, getattr(owner, name))  # so that no other test is timed
    diagnostics.main()
    shown = capsys.readouterr().out
    for part in (*diagnostics.PARTS, "run.png", "all of them"):
        assert part in shown


def test_a_report_over_many_runs_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "MANY", 40)
    monkeypatch.setattr(report, "METHODS", ("fixmatch", "smooth"))
    monkeypatch.setattr(report, "THRESHOLDS", (0.95,))
    report.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("│")] == ["4", "40"]
