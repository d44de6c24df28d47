"""python -m smoothpl.train as a user types it."""

import os
import subprocess
import sys
from pathlib import Path
from shlex import quote, split

import pytest

from smoothpl.record.record import read, read_below
from smoothpl.train import remove_if_empty
from tests.support.interrupter import ASKS
from tests.support.processes import ENVIRONMENT, Process

SHORT = ("max_steps=3", "eval_every=3", "batch_size=4")


def test_the_cards_command_from_nothing(tmp_path: Path) -> None:
    """The one run that imports all there is, with a new interpreter; the others are forked from a server."""
    card = ["method=smooth", "shape=sqrt", "threshold=0.98", *SHORT]
    command = [sys.executable, "-W", "ignore:builtin type:DeprecationWarning", "-m", "smoothpl.train", *card]
    environment = {**os.environ, **ENVIRONMENT, "PYTHONWARNINGS": "error"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (record,) = read_below([tmp_path / "outputs" / "digits_40"]).values()
    assert record.config["shape"]["mu"] == 0.5
    assert record.config["threshold"] == 0.98
    (path,) = tmp_path.rglob("run.json")
    recipe, which = path.parts[-4:-2]
    assert recipe.startswith("smooth,")
    assert which == "fold=0,seed=2046"
    assert f"record: {path}" in done.stdout
    assert "step 3/3" in done.stdout
    for words in (
        "error (last)",
        "supervised loss",
        "coverage",
        "mean weight",
        "class accuracy",
        "collapsed",
        "duration",
    ):
        assert words in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if not line.startswith("record:"))


def test_the_composed_configuration_can_be_seen(tmp_path: Path) -> None:
    shown = Process("smoothpl.train", "--cfg", "job", "shape=sqrt", "threshold=0.98", cwd=tmp_path).wait().stdout
    assert "threshold: 0.98" in shown
    assert "mu: 0.5" in shown


@pytest.mark.parametrize("arguments", [["--help"], ["threshold=2"]])
def test_saying_no_does_not_wait_for_torch(tmp_path: Path, arguments: list[str]) -> None:
    program = (
        "import runpy, sys\n"
        f"sys.argv = ['train', *{arguments}]\n"
        "try:\n    runpy.run_module('smoothpl.train', run_name='__main__')\n"
        "except SystemExit:\n    pass\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_directories_in_which_nothing_was_started_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs" / "empty" / "run").mkdir(parents=True)
    (tmp_path / "outputs" / "other").mkdir()
    remove_if_empty(tmp_path / "outputs" / "empty" / "run")
    assert [path.name for path in (tmp_path / "outputs").iterdir()] == ["other"]


def test_nothing_that_holds_a_file_or_lies_elsewhere_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here" / "run").mkdir(parents=True)
    (tmp_path / "here" / "run" / "run.json").touch()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    remove_if_empty(tmp_path / "here" / "run")
    remove_if_empty(tmp_path / "elsewhere")
    assert (tmp_path / "here" / "run" / "run.json").exists()
    assert (tmp_path / "elsewhere").exists()


def test_ctrl_c_before_the_run_has_a_record_leaves_nothing_and_says_so(tmp_path: Path) -> None:
    own = "net={_target_: tests.support.interrupter.interrupt, variant: torchssl}"
    done = Process("smoothpl.train", *SHORT, own, cwd=tmp_path).wait()
    assert done.returncode == 1
    assert done.stderr == "\ninterrupted before the run was started; there is nothing to resume.\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("moment", "by"), [("is built", ""), ("is set up", " by SIGINT"), ("first step", " by SIGINT")]
)
def test_ctrl_c_before_the_first_step_leaves_a_run_that_can_be_resumed(tmp_path: Path, moment: str, by: str) -> None:
    done = Process("smoothpl.train", *SHORT, f"+callbacks.asks={ASKS % moment}", cwd=tmp_path).wait()
    (path,) = tmp_path.rglob("run.json")
    assert done.returncode == 1
    *_, last = done.stderr.splitlines()
    assert last == f"interrupted{by}; to resume: python -m smoothpl.train {quote(f'resume={path.parent}')}"
    assert read(path.parent).status == "interrupted"
    done = Process("smoothpl.train", *split(last.partition("smoothpl.train ")[2]), cwd=tmp_path).wait()
    assert done.returncode == 0, done.stderr
    assert read(path.parent).status == "finished"
