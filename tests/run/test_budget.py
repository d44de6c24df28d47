from pathlib import Path
from types import SimpleNamespace

import pytest

from smoothpl.config.overrides import CommandLine
from smoothpl.errors import ConfigError
from smoothpl.run import budget
from smoothpl.run.budget import Fit, Pace, StepTimer, first_job, fit_into, fits, measure, plan
from tests.support.composing import SMALL as BACKBONE
from tests.support.composing import composed

SMALL = ("batch_size=4", "max_steps=100")


@pytest.mark.parametrize(
    ("seconds", "pace", "planned"),
    [
        (100, Pace(0.5, 0), (200, 10)),
        (100, Pace(0.5, 1), (180, 10)),
        (100, Pace(0.5, 5), (160, 4)),  # evaluations take a fifth at most
        (100, Pace(0.5, 50), (100, 1)),  # but one there must be
        (100, Pace(200, 0), (0, 10)),
        (100, Pace(0.5, 500), (0, 1)),
        (1e9, Pace(0.5, 0), (2**20, 10)),
    ],
)
def test_the_time_is_divided_between_steps_and_evaluations(
    seconds: float, pace: Pace, planned: tuple[int, int]
) -> None:
    assert plan(seconds, pace) == planned


def test_short_runs_before_the_run_take_their_share() -> None:
    assert plan(120, Pace(1, 0), has_short_runs=True) == (100, 10)


@pytest.mark.parametrize("accumulate", [1, 2])
def test_real_steps_are_timed_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accumulate: int
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(budget, "MOST_TIMED", 3)
    config = composed(*SMALL, f"accumulate={accumulate}")
    pace = measure(config, None)
    assert pace.step > 0
    assert pace.evaluation == pytest.approx(pace.step / 60 / 3 * 500)  # 60 images a step, 500 test images
    assert config.max_steps == 100
    assert list(tmp_path.iterdir()) == []


def test_steps_are_timed_between_their_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two to warm up, then until the time is over; a part of a step is none."""
    times = iter([10.0, 20.0, 21.0, 23.0, 26.0])
    monkeypatch.setattr(budget, "monotonic", lambda: next(times))
    timer, trainer = StepTimer(), SimpleNamespace(global_step=0, should_stop=False)
    stops = []
    for step in (0, 1, 1, 2, 2, 3, 3, 4, 4, 5):
        trainer.global_step = step
        timer.on_train_batch_end(trainer, None)  # type: ignore[arg-type]
        stops.append(trainer.should_stop)
    assert timer.seconds == 2  # (26 - 20) / 3
    assert stops == [False] * 9 + [True]


def test_the_first_line_that_fits_is_taken(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [CommandLine.parse([*SMALL, f"seed={seed}"]) for seed in (3, 2, 1)]
    monkeypatch.setattr(budget, "seconds_of_step", lambda config, _: config.seed / 10)
    monkeypatch.setattr(budget, "measure", lambda config, _: Pace(config.seed / 10, 0))
    assert fit_into(1, lines) == Fit(0, {"max_steps": 200, "eval_every": 20})
    assert fit_into(0.5, lines) == Fit(1, {"max_steps": 150, "eval_every": 15})
    assert fit_into(0.1, lines) == Fit(2, {"max_steps": 60, "eval_every": 6})
    assert "minutes=0.1: a step takes 0.1 s here, so max_steps=60." in capsys.readouterr().err
    with pytest.raises(
        ConfigError, match=r"minutes=0\.025 is enough for 15 steps of 0\.1 s here, .* at least 20; give"
    ):
        fit_into(0.025, lines)


def test_a_sweep_is_timed_by_its_first_run() -> None:
    config = first_job(CommandLine.parse(["-m", "method=fixmatch,smooth", "fold=range(3)"]))
    assert (config.method, config.fold) == ("fixmatch", 0)


def test_a_line_fits_if_its_steps_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "seconds_of_step", lambda *_: 1.0)
    assert fits(composed(*SMALL), 130)
    assert not fits(composed(*SMALL), 129)


def test_two_stages_are_not_fitted_into_minutes() -> None:
    line = CommandLine.parse([*BACKBONE, "finetune=norms"])
    with pytest.raises(ConfigError, match=r"^minutes=3 chooses the steps of one stage, .*; set finetune\.max_steps: "):
        fit_into(3, [line])
