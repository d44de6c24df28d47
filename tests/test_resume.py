"""Real processes, killed with SIGKILL or asked to stop, and continued: the end is that of a run left alone."""

import random
import shlex
import signal
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from torch import Tensor

from smoothpl.callbacks import Checkpointer
from smoothpl.checkpoints import commit, found, newest_whole
from smoothpl.curves import Curves
from smoothpl.results.record import Record, read, write
from smoothpl.resume import compare, with_recorded_overrides
from tests.processes import Done, Process

KNOBS = ("max_steps=24", "eval_every=6", "checkpoint_every=4", "log_every=3", "batch_size=4")
LONGER = ("max_steps=70", "eval_every=15")
MOMENTS = [
    "step",
    "after optimiser",
    "validation",
    "draft is half written",
    "draft is written",
    "older ones are removed",
]


def run(run_dir: Path, *knobs: str) -> Done:
    return start(run_dir, *knobs).wait()


def start(run_dir: Path, *knobs: str) -> Process:
    run_dir.parent.mkdir(parents=True, exist_ok=True)
    return Process("smoothpl.train", f"hydra.run.dir={run_dir}", *KNOBS, *knobs, cwd=run_dir.parent)


def resume(run_dir: Path, *knobs: str) -> Done:
    return Process("smoothpl.train", f"resume={run_dir}", *knobs, cwd=run_dir.parent).wait()


def outcome(run_dir: Path) -> tuple[dict[str, Any], dict[str, Any], str]:
    """All that a run leaves, but for times and the number of its lives."""
    checkpoint = torch.load(run_dir / "last.ckpt", weights_only=True)
    record = read(run_dir)
    record.started, record.duration, record.time_before, record.resumed_at, record.overrides = "", None, 0, [], []
    record.config["callbacks"].pop("killer", None)
    record.recipe = record.name = ""
    parts = {key: checkpoint[key] for key in ("state_dict", "optimizer_states", "lr_schedulers", "global_step")}
    return parts, vars(record), (run_dir / "logs" / "metrics.csv").read_text()


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """The places where two outcomes differ by as much as a bit."""
    if isinstance(one, dict | list | tuple) and type(one) is type(other) and len(one) == len(other):
        pairs = one.items() if isinstance(one, dict) else enumerate(one)
        return [each for key, part in pairs for each in differences(part, other[key], f"{where}/{key}")]
    same = torch.equal(one, other) if isinstance(one, Tensor) else one == other
    return [] if same else [f"{where}: {one} and {other}"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The outcome of an uninterrupted run, by its knobs."""
    known: dict[tuple[str, ...], Any] = {}

    def outcome_of(*knobs: str) -> Any:
        if knobs not in known:
            run_dir = tmp_path_factory.mktemp("alone") / "run"
            assert run(run_dir, *knobs).returncode == 0
            known[knobs] = outcome(run_dir)
        return known[knobs]

    return outcome_of


def killer(moment: str, step: int) -> str:
    return f"+callbacks.killer={{_target_: tests.killer.Killer, moment: {moment}, step: {step}}}"


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_killed_at_any_moment_ends_as_if_it_had_been_left_alone(tmp_path: Path, alone: Any, moment: str) -> None:
    step = {"validation": 12, "older ones are removed": 12}.get(moment, 8)
    run_dir = tmp_path / "run"
    assert run(run_dir, killer(moment, step)).returncode == -signal.SIGKILL
    assert read(run_dir).status == "running"
    done = resume(run_dir, "+callbacks.killer=null", "resume_allow=[callbacks.killer]")
    assert done.returncode == 0, done.stderr
    record = read(run_dir)
    assert record.resumed_at == [{"validation": 8, "older ones are removed": 12}.get(moment, 4)]
    assert differences(outcome(run_dir), alone()) == []
    assert list(run_dir.glob("checkpoints/*")) == []


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (5, "method=fixmatch"),
        (5, "method=smooth"),
        (5, "method=flexmatch"),
        (2, "method=fixmatch data.num_workers=2"),
        (2, "method=smooth data.num_workers=2"),
        (2, "method=flexmatch data.num_workers=2"),
    ],
)
def test_a_run_killed_again_and_again_at_random_ends_as_if_it_had_been_left_alone(
    tmp_path: Path, alone: Any, times: int, words: str
) -> None:
    knobs = (*words.split(), *LONGER)
    chance = random.Random(repr(knobs))
    run_dir = tmp_path / "run"
    process = start(run_dir, *knobs)
    for _ in range(times):
        reached = min(read_step(run_dir) + chance.randrange(12), 50)
        process.wait_until(lambda reached=reached: read_step(run_dir) >= reached)  # type: ignore[misc]
        process.kill()
        process = Process("smoothpl.train", f"resume={run_dir}", cwd=tmp_path)
    done = process.wait()
    assert done.returncode == 0, done.stderr
    assert read(run_dir).resumed_at
    assert differences(outcome(run_dir), alone(*knobs)) == []


def read_step(run_dir: Path) -> int:
    """The last step that was logged."""
    rows = Curves(run_dir).read()
    return max((int(row["step"]) for row in rows if row["step"]), default=0)


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_who_asks_it_to_stop_gets_a_checkpoint_and_the_command_to_go_on(
    tmp_path: Path, alone: Any, which: signal.Signals
) -> None:
    run_dir = tmp_path / "run"
    process = start(run_dir, "checkpoint_every=1000")
    process.wait_until((run_dir / "logs" / "metrics.csv").exists)
    process.send(which)
    done = process.wait()
    assert done.returncode == 1
    assert f"interrupted by {which.name}; to go on: python -m smoothpl.train resume={run_dir}" in done.stderr
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


def test_a_damaged_checkpoint_is_named_and_an_older_one_is_used(tmp_path: Path, alone: Any) -> None:
    run_dir = tmp_path / "run"
    run(run_dir, killer("step", 15))
    newest, older = found(run_dir / "checkpoints")
    assert (newest.step, older.step) == (12, 8)
    newest.path.write_bytes(newest.path.read_bytes()[:-100] + bytes(100))
    done = resume(run_dir, "+callbacks.killer=null", "resume_allow=[callbacks]")
    assert done.returncode == 0, done.stderr
    assert f"{newest.path} IS DAMAGED and is not used" in done.stderr
    assert read(run_dir).resumed_at == [8]
    assert differences(outcome(run_dir), alone()) == []


def test_another_configuration_is_refused_with_the_differences(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    run(run_dir, killer("step", 6))
    before = (run_dir / "run.json").read_text()
    done = resume(run_dir, "+callbacks.killer=null", "threshold=0.9", "max_steps=40")
    assert done.returncode == 1
    assert "this is not the run that was begun: callbacks.killer: " in done.stderr
    for words in ("max_steps: 24 then, 40 now", "threshold: 0.95 then, 0.9 now", "resume_allow=[...]"):
        assert words in done.stderr
    assert (run_dir / "run.json").read_text() == before


def test_automatic_resuming_finds_the_newest_run_goes_on_with_it_and_leaves_a_finished_one_alone(
    tmp_path: Path, alone: Any
) -> None:
    """Three times the same command line, as a scheduler would give it, and once another fold."""
    command = ("smoothpl.train", "resume=auto", *KNOBS)
    process = Process(*command, cwd=tmp_path)
    process.wait_until(lambda: any(tmp_path.rglob("step=*.ckpt")))
    process.send(signal.SIGTERM)
    assert process.wait().returncode == 1
    (run_dir,) = [path.parent for path in tmp_path.rglob("run.json")]

    done = Process(*command, cwd=tmp_path).wait()
    assert done.returncode == 0, done.stderr
    assert differences(outcome(run_dir), alone()) == []

    finished = (run_dir / "run.json").read_text()
    again = Process(*command, cwd=tmp_path).wait()
    assert again.returncode == 0, again.stderr
    assert f"record: {run_dir / 'run.json'}" in again.stdout
    assert (run_dir / "run.json").read_text() == finished
    assert [path.parent for path in tmp_path.rglob("run.json")] == [run_dir]

    assert Process(*command, "fold=1", cwd=tmp_path).wait().returncode == 0
    assert len(list(tmp_path.rglob("run.json"))) == 2


def test_a_sweep_that_was_cut_short_is_completed_by_the_same_command(tmp_path: Path) -> None:
    command = ("smoothpl.train", "-m", "fold=0,1,2", "resume=auto", *KNOBS)
    process = Process(*command, cwd=tmp_path)
    process.wait_until(lambda: any(tmp_path.rglob("fold=1*/checkpoints/step=*.ckpt")))
    process.kill()
    done = Process(*command, cwd=tmp_path).wait()
    assert done.returncode == 0, done.stderr
    records = {path.parent.name: read(path.parent) for path in tmp_path.rglob("run.json")}
    assert len(records) == 3
    assert {record.status for record in records.values()} == {"finished"}
    assert [bool(records[name].resumed_at) for name in sorted(records)] == [False, True, False]


def test_a_run_that_is_given_little_time_again_and_again_reaches_its_end(tmp_path: Path, alone: Any) -> None:
    run_dir = tmp_path / "run"
    done = run(run_dir, "max_time=00:00:00", "checkpoint_every=1000")
    steps = []
    while done.returncode:
        assert "interrupted by max_time; to go on" in done.stderr
        assert read(run_dir).status == "interrupted"
        steps.append(found(run_dir / "checkpoints")[0].step)
        done = resume(run_dir, *(["max_time=null", "resume_allow=[max_time]"] if len(steps) == 3 else []))
    assert steps == [1, 2, 3]
    ended = outcome(run_dir)
    ended[1]["config"]["checkpoint_every"] = 4
    assert differences(ended, alone()) == []


def test_a_run_that_was_killed_when_all_was_done_is_not_begun_again(tmp_path: Path, alone: Any) -> None:
    run_dir = tmp_path / "run"
    assert run(run_dir, killer("all is done", 24)).returncode == -signal.SIGKILL
    assert read(run_dir).status == "finished"
    assert differences(outcome(run_dir), alone()) == []


def test_whoever_insists_need_not_wait_for_the_end_of_a_step(tmp_path: Path) -> None:
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


def test_the_command_that_is_left_behind_works_as_it_is_printed(tmp_path: Path, alone: Any) -> None:
    """In the default directory, whose name has = and , in it, and with a folder of one's own."""
    (tmp_path / "my conf" / "shape").mkdir(parents=True)
    (tmp_path / "my conf" / "shape" / "mine.yaml").write_text("_target_: smoothpl.pseudo.Power\nmu: 1.0\n")
    process = Process("smoothpl.train", "--config-dir", "my conf", "shape=mine", *KNOBS, cwd=tmp_path)
    process.wait_until(lambda: any(tmp_path.rglob("step=*.ckpt")))
    process.send(signal.SIGTERM)
    stopped = process.wait()
    words = shlex.split(stopped.stderr.partition("to go on: ")[2])
    assert words[:3] == ["python", "-m", "smoothpl.train"]
    (tmp_path / "elsewhere").mkdir()
    done = Process(*words[2:], cwd=tmp_path / "elsewhere").wait()
    assert done.returncode == 0, done.stderr
    (run_dir,) = [path.parent for path in tmp_path.rglob("run.json")]
    assert differences(outcome(run_dir), alone()) == []


def test_what_was_allowed_to_differ_is_what_is_resumed_next_time(tmp_path: Path) -> None:
    """And what follows from it need not be named: trainer.max_steps, and the schedule's."""
    run_dir = tmp_path / "run"
    assert run(run_dir, "max_time=00:00:00").returncode == 1
    assert resume(run_dir, "max_steps=30", "resume_allow=[max_steps]").returncode == 1
    done = resume(run_dir, "max_time=null", "resume_allow=[max_time]")
    assert done.returncode == 0, done.stderr
    assert read(run_dir).history[-1].step == 30


def test_damaged_checkpoints_are_put_aside_and_new_ones_are_kept(tmp_path: Path) -> None:
    for step in (90, 100):
        (tmp_path / f"step={step:08}-{'0' * 16}.ckpt").write_text("damaged")
    assert newest_whole(tmp_path) is None
    for step in (10, 20, 30):
        (tmp_path / "draft").write_text(str(step))
        commit(tmp_path / "draft", step, keep=2)
    assert [each.step for each in found(tmp_path)] == [30, 20]
    assert len(list(tmp_path.glob("*.damaged"))) == 2


def test_a_run_that_goes_on_elsewhere_is_not_joined(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    process = start(run_dir, "max_steps=100000")
    process.wait_until(lambda: any(tmp_path.rglob("step=*.ckpt")))
    done = resume(run_dir)
    process.kill()
    assert done.returncode == 1
    assert f"the run in {run_dir} is still going on" in done.stderr


def test_where_there_is_no_run_there_is_nothing_to_resume(tmp_path: Path) -> None:
    done = Process("smoothpl.train", f"resume={tmp_path / 'nowhere'}", cwd=tmp_path).wait()
    assert done.returncode == 1
    assert "nowhere holds no run: it has no run.json; name the directory of a run, or auto" in done.stderr
    assert list(tmp_path.iterdir()) == []


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


def test_only_a_few_checkpoints_are_kept(tmp_path: Path) -> None:
    for step in (8, 9, 10, 11):
        (tmp_path / "draft").write_text(str(step))
        commit(tmp_path / "draft", step, keep=2)
    assert [each.step for each in found(tmp_path)] == [11, 10]
    assert all(each.is_whole for each in found(tmp_path))


def test_what_was_said_then_is_said_again_unless_it_is_said_anew(tmp_path: Path) -> None:
    write(tmp_path, Record({}, "recipe", overrides=["method=fixmatch", "+a.b=1", "fold=2"]))
    said = with_recorded_overrides([f"resume={tmp_path}", "fold=3", "a.b=2"])
    assert said == ["method=fixmatch", "fold=3", "a.b=2", f"resume='{tmp_path}'"]
    assert with_recorded_overrides(["resume=auto", "fold=1"]) == ["resume=auto", "fold=1"]


def test_differences_are_named_by_their_keys() -> None:
    before, now = {"a": {"b": 1, "c": [1]}, "d": 2}, {"a": {"b": 3, "c": [1]}, "e": None, "d": {"f": 1}}
    assert list(compare(before, now)) == [("a.b", 1, 3), ("d", 2, {"f": 1})]
