"""Real processes, killed with SIGKILL or asked to stop, and continued: the end is that of a run left alone."""

import random
import shlex
import signal
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
import torch
from torchvision import models

from smoothpl.config.recipe import LATER
from smoothpl.errors import ConfigError
from smoothpl.inference.classifier import load
from smoothpl.loggers.curves import Curves
from smoothpl.record.checkpoints import found
from smoothpl.record.record import new_record, read, write
from smoothpl.run.resume import check_backbones, check_same, compare, find_same
from tests.support.backbones import TINY_BACKBONE, tiny_encoder
from tests.support.composing import composed
from tests.support.lives import KNOBS, differences, killer, outcome, resume, run, start
from tests.support.own import two_digits
from tests.support.processes import Process

LONGER = ("max_steps=70", "eval_every=15")
MOMENTS = [
    "step",
    "after optimiser",
    "validation",
    "draft is half written",
    "draft is written",
    "older ones are removed",
]


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
        (5, "method=flexmatch"),
        (2, "method=smooth data.num_workers=2 pictures=true"),
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
    assert "these settings differ from the resumed run: callbacks.killer was " in done.stderr
    for words in ("max_steps was 24, is 40", "threshold was 0.95, is 0.9", "resume_allow=[...]"):
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


def test_a_run_that_was_killed_when_all_was_done_is_not_started_again(tmp_path: Path, alone: Any) -> None:
    run_dir = tmp_path / "run"
    assert run(run_dir, killer("all is done", 24)).returncode == -signal.SIGKILL
    assert read(run_dir).status == "finished"
    assert differences(outcome(run_dir), alone()) == []


def test_the_command_that_is_left_behind_works_as_it_is_printed(tmp_path: Path, alone: Any) -> None:
    """In the default directory, whose name has = and , in it, and with a folder of one's own."""
    (tmp_path / "my conf" / "shape").mkdir(parents=True)
    (tmp_path / "my conf" / "shape" / "mine.yaml").write_text("_target_: smoothpl.pseudo.Power\nmu: 1.0\n")
    process = Process("smoothpl.train", "--config-dir", "my conf", "shape=mine", *KNOBS, cwd=tmp_path)
    process.wait_until(lambda: any(tmp_path.rglob("step=*.ckpt")))
    process.send(signal.SIGTERM)
    stopped = process.wait()
    words = shlex.split(stopped.stderr.partition("to resume: ")[2])
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
    assert resume(run_dir, "max_steps=30", "resume_allow=[max_steps]", "max_time=00:00:00").returncode == 1
    done = resume(run_dir)
    assert done.returncode == 0, done.stderr
    assert read(run_dir).history[-1].step == 30


def test_a_run_that_still_runs_elsewhere_is_not_joined(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    process = start(run_dir, "max_steps=100000")
    process.wait_until(lambda: any(tmp_path.rglob("step=*.ckpt")))
    done = resume(run_dir)
    process.kill()
    assert done.returncode == 1
    assert f"the run in {run_dir} is still running" in done.stderr


def test_where_there_is_no_run_there_is_nothing_to_resume(tmp_path: Path) -> None:
    done = Process("smoothpl.train", f"resume={tmp_path / 'nowhere'}", cwd=tmp_path).wait()
    assert done.returncode == 1
    assert "nowhere holds no run: it has no run.json; name the directory of a run, or auto" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_a_version_that_did_not_know_a_knob_is_still_the_same() -> None:
    record = new_record(composed("method=dash"))
    for knob in LATER:
        *owners, name = knob.split(".")
        del reduce(getitem, owners, record.config)[name]
    check_same(record, composed("method=dash"))
    for words, difference in {
        "num_labels=50 labels_before=[40]": r"labels_before was None, is \[40\]",
        "policy.warm_up_steps=8": "policy.warm_up_steps was None, is 8",
    }.items():
        with pytest.raises(ConfigError, match=difference):
            check_same(record, composed("method=dash", *words.split()))


def test_differences_are_named_by_their_keys() -> None:
    before, now = {"a": {"b": 1, "c": [1]}, "d": 2}, {"a": {"b": 3, "c": [1]}, "e": None, "d": {"f": 1}}
    assert list(compare(before, now)) == [("a.b", 1, 3), ("d", 2, {"f": 1})]


def test_the_weights_that_a_run_began_with_are_not_asked_for_again(tmp_path: Path) -> None:
    photos, name = two_digits(tmp_path / "photos"), "shufflenet_v2_x0_5"
    weights = tmp_path / "weights.pth"
    torch.save(models.get_model(name).state_dict(), weights)
    knobs = ("data=folder", f"data.root={photos}", "data.size=32", "net=torchvision", f"net.name={name}")
    run_dir = tmp_path / "run"
    assert run(run_dir, *knobs, f"net.weights={weights}", killer("step", 8)).returncode == -signal.SIGKILL
    weights.unlink()
    done = resume(run_dir, "+callbacks.killer=null", "resume_allow=[callbacks.killer]")
    assert done.returncode == 0, done.stderr
    assert read(run_dir).resumed_at == [4]
    assert load(run_dir).class_names == ("one", "zero")


def test_an_unfinished_run_comes_before_finished_ones_and_the_newest_first(tmp_path: Path) -> None:
    config = composed()
    for name, status, started in (("a", "interrupted", "1"), ("b", "failed", "2"), ("c", "finished", "3")):
        record = new_record(config)
        record.status, record.started = status, started
        (tmp_path / "fold=0,seed=2046" / name).mkdir(parents=True)
        write(tmp_path / "fold=0,seed=2046" / name, record)
    same = find_same(config, tmp_path)
    assert same is not None
    assert same[1].name == "b"
    assert find_same(composed("threshold=0.9"), tmp_path) is None


def test_a_run_does_not_go_on_with_other_weights_of_its_backbone() -> None:
    config = composed(*TINY_BACKBONE)
    record = new_record(config)
    check_backbones(record, config)  # of a record that does not say
    record.backbones = {"tiny": tiny_encoder().digest}
    check_backbones(record, config)
    record.backbones = {"tiny": "0" * 32}
    with pytest.raises(ConfigError, match="backbone tiny has other weights now than this run began with"):
        check_backbones(record, config)
