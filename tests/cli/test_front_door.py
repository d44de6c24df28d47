"""The command line as a user meets it: real processes, from a foreign directory."""

import os
import signal
import warnings
from collections.abc import Callable
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest
import torch

from smoothpl.cli.front_door import explain, run_command
from smoothpl.config.compose import compose_config
from smoothpl.errors import ConfigError
from smoothpl.record.record import Record, read
from tests.support.composing import options
from tests.support.processes import Done, Process

SHORT = ("max_steps=3", "eval_every=3", "batch_size=4", "pictures=false")


def smoothpl(command: str, *arguments: str, cwd: Path) -> Done:
    return Process("smoothpl", command, *arguments, cwd=cwd).wait()


def records(folder: Path) -> list[Record]:
    return [read(path.parent) for path in sorted(folder.rglob("run.json"))]


def test_a_multirun_runs_every_combination_into_one_folder_and_the_report_reads_it(tmp_path: Path) -> None:
    done = smoothpl("train", "-m", "method=fixmatch,smooth", "fold=0,1", *SHORT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (sweep,) = (tmp_path / "outputs" / "sweeps").iterdir()
    runs = records(sweep)
    assert sorted((r.config["method"], r.config["fold"]) for r in runs) == sorted(
        product(["fixmatch", "smooth"], [0, 1])
    )
    assert len({record.recipe for record in runs}) == 2
    report = smoothpl("report", str(sweep), cwd=tmp_path)
    assert report.returncode == 0, report.stderr
    assert report.stdout.count("±") == 5  # in both tables, and in their heads


def test_a_part_of_a_method_can_be_left_out(tmp_path: Path) -> None:
    done = smoothpl("train", "method=freematch", "fairness=null", "annealing=null", *SHORT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (record,) = records(tmp_path)
    assert (record.config["fairness"], record.config["annealing"]) == (None, None)
    assert "train/fairness_loss" not in record.metrics


def test_one_failing_job_does_not_stop_the_others_and_the_exit_code_says_so(tmp_path: Path) -> None:
    done = smoothpl("train", "-m", "threshold=2,3,0.9", *SHORT, cwd=tmp_path)
    assert done.returncode == 1
    for job, threshold in enumerate(("2.0", "3.0")):
        assert f"job {job} failed: threshold={threshold} must lie strictly between 0 and 1" in done.stderr
    assert [record.config["threshold"] for record in records(tmp_path)] == [0.9]


WRONG = {
    "treshold=0.9": "treshold is not a knob: did you mean threshold?",
    "shape.muu=2": "shape.muu is not a knob: did you mean shape.mu?",
    "seed=${oc.env:NOPE}": "Environment variable 'NOPE' not found",
    "optim.learning_rate=abc": "optim.learning_rate=abc must be a number from 0 up.",
    "zzz=1": "zzz is not a knob: known are",
    "T smooth": "T is not a setting; settings are key=value, for example method=smooth.",
    "-m fold=range(0)": "fold=range(0) is an empty range: there would be nothing to run",
    "views=imagenet": "these views need data.size, which these data do not have; views=torchssl",
    "shape.nu=2": "shape.nu is not a knob: known are mu.",
    "threshold=high": "threshold: Value 'high' of type 'str' could not be converted to Float.",
    "max_steps=1.5": "max_steps: Value '1.5' of type 'float' could not be converted to Integer.",
    "shape=cubic": f"shape=cubic is not an option; shape is one of {', '.join(options('shape'))}.",
    "experiment=typo": "experiment=typo is not an option; experiment is one of cifar100_2500, cifar10_40",
    "method=fixmatch shape.mu=2": "shape.mu is not a knob: this shape has none.",
    "hydra.run.dir=/proc/nowhere": "/proc/nowhere: No such file or directory; name a place that can be written to",
    "optim.momentum=0": "add optim.nesterov=false",
    "+optim.dampening=1": "unexpected keyword argument 'dampening'",
    "views.strong.cutout=abc": "cutout=abc of Distort (views) must be a number from 0 up.",
    "net.variant=torchsl": "net.variant=torchsl must be one of torchssl, google.",
    "shape=power": "shape.mu has no value yet; give it one: shape.mu=...",
    "shape=null": f"shape=null: shape is one of {', '.join(options('shape'))}; ~shape leaves it out, where that is",
    "threshold=1.5": "threshold=1.5 must lie strictly between 0 and 1",
    "num_labels=45": "use a multiple of 10",
    "shape=power shape.mu=-1": "shape.mu=-1 must be positive; for a hard cut use shape=step.",
    "net.depth=11": "net.depth=11 must be 4 + 6 n",
    "shape=linear method=supervised": "shape would have no effect: method=supervised learns from labels alone",
}


@pytest.mark.parametrize("words", WRONG)
def test_a_mistake_is_one_message_without_a_traceback_and_leaves_nothing_behind(tmp_path: Path, words: str) -> None:
    done = smoothpl("train", *words.split(), cwd=tmp_path)
    assert done.returncode == 1
    assert WRONG[words] in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_holds_a_run_is_never_written_to_again(tmp_path: Path) -> None:
    arguments = ("hydra.run.dir=here", *SHORT)
    assert smoothpl("train", *arguments, cwd=tmp_path).returncode == 0
    before = {path: path.read_bytes() for path in (tmp_path / "here").rglob("*") if path.is_file()}
    again = smoothpl("train", *arguments, cwd=tmp_path)
    assert again.returncode == 1
    assert "already holds a run" in again.stderr
    assert {path: path.read_bytes() for path in (tmp_path / "here").rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("interruption", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_so_and_leaves_its_record(tmp_path: Path, interruption: signal.Signals) -> None:
    endless = ("max_steps=100000", "eval_every=1", "log_every=1", "batch_size=4")
    process = Process("smoothpl.train", *endless, cwd=tmp_path)
    process.wait_until(lambda: "step 1/100000" in process.read("stdout"))
    process.send(interruption)
    done = process.wait()
    message = done.stderr
    assert done.returncode == 1
    (record,) = records(tmp_path)
    assert record.status == "interrupted"
    assert record.history[0].step == 1
    assert "train/loss" in record.metrics
    assert f"interrupted by {interruption.name}; to resume: python -m smoothpl.train resume=" in message
    assert "Traceback" not in message


def test_help_is_a_page_for_people(tmp_path: Path) -> None:
    page = smoothpl("train", "--help", cwd=tmp_path).stdout
    assert page.count("python -m smoothpl.train") >= 5
    assert "threshold" in page
    assert f"shape: {', '.join(options('shape'))}" in page
    assert all(len(line) <= 80 for line in page.splitlines())
    assert list(tmp_path.iterdir()) == []


MINE = """
import torch
from smoothpl import ThresholdPolicy

class Always:
    def __call__(self, confidence, threshold):
        return confidence * 0 + 1

class Falling(ThresholdPolicy):
    def __init__(self, start):
        super().__init__()
        self.register_buffer("level", torch.tensor(start))
    def forward(self, pseudo):
        return self.level.expand_as(pseudo.confidence)
    def observe(self, pseudo, weight):
        self.level *= 0.5
"""


def test_a_shape_and_a_policy_of_ones_own_are_one_class_and_one_yaml_each(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    for path, text in {
        "shape/always.yaml": "_target_: mine.Always\n",
        "policy/falling.yaml": "_target_: mine.Falling\nstart: 0.8\n",
    }.items():
        (tmp_path / "conf" / path).parent.mkdir(parents=True)
        (tmp_path / "conf" / path).write_text(text)
    mine = ("shape=always", "policy=falling", "threshold=null")
    done = smoothpl("train", "--config-dir", "conf", *mine, *SHORT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (record,) = records(tmp_path)
    assert record.metrics["train/coverage"] == 1
    assert record.metrics["train/weight_mean"] == 1
    (checkpoint,) = tmp_path.rglob("last.ckpt")
    state = torch.load(checkpoint, weights_only=True)["state_dict"]
    assert state["weighting.policy.level"] == pytest.approx(0.8 / 2**3)


def test_an_error_that_nobody_foresaw_is_told_as_it_is() -> None:
    assert explain(RuntimeError("something else")) == "something else"


def failing(error: BaseException) -> Callable[[], None]:
    def command() -> None:
        raise error

    return command


def test_a_bug_keeps_its_traceback() -> None:
    os.environ.pop("HYDRA_FULL_ERROR", None)
    with pytest.raises(ValueError, match="a bug"):
        run_command(failing(ValueError("a bug")))


def test_a_bug_below_a_folder_that_is_called_like_hydra_keeps_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_hydra").mkdir()
    (tmp_path / "my_hydra" / "buggy.py").write_text("def command():\n    raise ValueError('a bug')\n")
    monkeypatch.syspath_prepend(tmp_path / "my_hydra")
    os.environ.pop("HYDRA_FULL_ERROR", None)
    with pytest.raises(ValueError, match="a bug"):
        run_command(import_module("buggy").command)


def test_a_word_of_hydra_about_the_command_line_is_one_line() -> None:
    def command() -> None:
        compose_config(["shape=null"])

    os.environ.pop("HYDRA_FULL_ERROR", None)
    with pytest.raises(SystemExit, match="--help lists the groups and their options"):
        run_command(command)


def test_an_interruption_before_training_is_one_line() -> None:
    os.environ.pop("HYDRA_FULL_ERROR", None)
    with pytest.raises(SystemExit, match="interrupted"):
        run_command(failing(KeyboardInterrupt()))


def test_who_wants_to_see_everything_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(ConfigError):
        run_command(failing(ConfigError("threshold")))


def test_names_in_an_error_cannot_steer_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = "labeled/\x1b[2J\x07cat"
    for error in (ConfigError(f"{hostile} is odd"), OSError(2, "No such file", hostile)):
        monkeypatch.setenv("HYDRA_FULL_ERROR", "1")  # so that it is removed at the end
        monkeypatch.delenv("HYDRA_FULL_ERROR")
        with pytest.raises(SystemExit) as raised:
            run_command(raising(error))
        assert r"labeled/\x1b[2J\x07cat" in str(raised.value)
        assert "\x1b" not in str(raised.value)


def raising(error: Exception) -> Callable[[], None]:
    def command() -> None:
        raise error

    return command


def test_names_in_a_warning_cannot_steer_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)  # so that it is as before at the end
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    run_command(lambda: None)
    shown = warnings.formatwarning("Glyph 27 (\x1b) missing", UserWarning, "plots.py", 1, "")
    assert shown.startswith(r"plots.py:1: UserWarning: Glyph 27 (\x1b) missing")
