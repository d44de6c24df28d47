import signal
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from smoothpl.callbacks import Checkpointer
from smoothpl.record.checkpoints import found
from smoothpl.record.record import read
from tests.support.lives import differences, killer, outcome, resume, run, start


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_to_stop_leaves_a_checkpoint_and_the_command_to_resume(
    tmp_path: Path, alone: Any, which: signal.Signals
) -> None:
    run_dir = tmp_path / "run"
    process = start(run_dir, "checkpoint_every=1000")
    process.wait_until((run_dir / "logs" / "metrics.csv").exists)
    process.send(which)
    done = process.wait()
    assert done.returncode == 1
    assert f"interrupted by {which.name}; to resume: python -m smoothpl.train resume={run_dir}" in done.stderr
    assert "Traceback" not in done.stderr
    assert read(run_dir).status == "interrupted"
    assert read(run_dir).failure == f"smoothpl.errors.Interruption: {which.name}"
    (checkpoint,) = found(run_dir / "checkpoints")
    assert checkpoint.is_whole
    done = resume(run_dir, "checkpoint_every=4", "resume_allow=[checkpoint_every]")
    assert done.returncode == 0, done.stderr
    record = read(run_dir)
    assert record.status == "finished"
    assert record.failure is None
    assert differences(outcome(run_dir), alone()) == []


def test_a_second_ctrl_c_does_not_wait_for_the_end_of_a_step(tmp_path: Path) -> None:
    process = start(tmp_path / "run", killer("sleep", 6))
    process.wait_until((tmp_path / "asleep").exists)
    for which in (signal.SIGTERM, signal.SIGTERM):  # a scheduler may repeat itself, and must wait
        process.send(which)
        time.sleep(0.3)
    assert process.process.is_alive()
    process.send(signal.SIGINT)
    assert process.wait().returncode == 1
    assert [each.step for each in found(tmp_path / "run" / "checkpoints")] == [4]
    assert read(tmp_path / "run").status == "interrupted"


def test_a_run_that_is_given_little_time_again_and_again_reaches_its_end(tmp_path: Path, alone: Any) -> None:
    run_dir = tmp_path / "run"
    done = run(run_dir, "max_time=00:00:00", "checkpoint_every=1000")
    steps = []
    while done.returncode:
        assert "interrupted by max_time; to resume" in done.stderr
        assert read(run_dir).status == "interrupted"
        steps.append(found(run_dir / "checkpoints")[0].step)
        done = resume(run_dir, *(["max_time=00:00:00"] if len(steps) < 3 else []))
    assert steps == [1, 2, 3]
    ended = outcome(run_dir)
    ended[1]["config"]["checkpoint_every"] = 4
    assert differences(ended, alone()) == []


def test_a_full_disk_leaves_the_previous_checkpoint(tmp_path: Path) -> None:
    def no_space(path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    trainer = Mock(global_step=1, is_global_zero=True)
    trainer.save_checkpoint = lambda path: path.write_bytes(b"first")
    checkpointer = Checkpointer(tmp_path, every=1, eval_every=10)
    checkpointer.save(trainer)
    trainer.save_checkpoint = no_space
    with pytest.raises(OSError, match="No space"):
        checkpointer.save(trainer)
    (kept,) = tmp_path.iterdir()
    assert kept.read_bytes() == b"first"


@pytest.mark.parametrize(
    ("asked_by", "max_time", "by"),
    [
        (signal.SIGTERM, None, "SIGTERM"),
        (signal.SIGTERM, 0.0, "SIGTERM"),
        (None, 0.0, "max_time"),
        (None, None, "SIGINT"),  # answered by Lightning, before the first step
        (None, 1e6, "SIGINT"),
    ],
)
def test_whoever_asked_to_stop_is_named(
    tmp_path: Path, asked_by: signal.Signals | None, max_time: float | None, by: str
) -> None:
    checkpointer = Checkpointer(tmp_path, every=1, eval_every=10, max_time=max_time)
    checkpointer.asked_by = asked_by
    assert str(checkpointer.interruption(Mock(callbacks=[]))) == by


def test_a_draft_never_follows_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / ".last.ckpt.draft").symlink_to(victim)
    trainer = Mock(is_global_zero=True, save_checkpoint=lambda path: Path(path).write_text("weights"))
    Checkpointer(tmp_path, every=1, eval_every=1).save_last(trainer, tmp_path / "last.ckpt")
    assert (victim.read_text(), (tmp_path / "last.ckpt").read_text()) == ("precious", "weights")
