import pytest
from omegaconf import DictConfig

from smoothpl.run import estimate as run_estimate
from smoothpl.run.build import build_module
from smoothpl.run.estimate import estimate, memory_of, try_step
from smoothpl.run.grid import Job
from tests.support.composing import composed


def test_a_step_takes_time_and_a_checkpoint_holds_three_copies_of_the_weights() -> None:
    seconds, size = try_step(composed("batch_size=4"))
    parameters = sum(each.numel() for each in build_module(composed()).network.parameters())
    assert seconds > 0
    assert size == 3 * 4 * parameters  # network, average and momentum, in 32 bits


def test_the_estimate_is_for_those_that_are_left() -> None:
    config = composed("batch_size=4", "max_steps=100")
    line, memory = estimate([Job([], config, "finished"), Job([], config, "failed"), Job([], config, "")])
    assert line.startswith("2 of 3 are left: about ")
    assert memory.startswith("A step of method=smooth with trainer.precision=32-true has ")
    assert estimate([Job([], config, "finished")]) == ["All of them are finished."]


def test_memory_is_counted_once_for_each_kind_of_step_and_only_for_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = list[int]()

    def pretend(config: DictConfig) -> int:
        counted.append(config.batch_size)
        return 10**9

    monkeypatch.setattr(run_estimate, "peak_of_step", pretend)
    configs = [composed(f"batch_size={size}", f"fold={fold}") for size in (4, 16, 8) for fold in range(3)]
    (line,) = memory_of([Job([], config, "") for config in configs])
    assert counted == [8, 16]
    assert "has 1.0 GB in memory at its peak, the larger of 2 counted of 3 kinds of steps; counted, not" in line


def test_of_what_cannot_be_counted_nothing_is_said() -> None:
    assert memory_of([Job([], composed("net._target_=nowhere.Net"), "")]) == []


def test_jobs_that_compute_in_another_way_are_tried_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def try_step(config: DictConfig) -> tuple[float, int]:
        tried.append(config.forward)
        return 1.0, 0

    monkeypatch.setattr("smoothpl.run.estimate.try_step", try_step)
    knobs = ("fold=0", "forward=split", "trainer.precision=bf16-mixed", "fold=1")
    estimate([Job([], composed(knob), "") for knob in knobs])
    assert tried == ["joint", "split", "joint"]
