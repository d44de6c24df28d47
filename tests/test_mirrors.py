import json
import subprocess
import sys
from pathlib import Path

import pytest
from lightning.pytorch.loggers import Logger

from smoothpl.mirrors import Mirror
from smoothpl.results.record import read
from tests.processes import Process

SHORT = ("max_steps=4", "eval_every=2", "log_every=2", "batch_size=4", "pictures=false")


class Fragile(Logger):
    name = version = "fragile"

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[int | None] = []

    def log_hyperparams(self, *_: object, **__: object) -> None:
        raise ConnectionError("no network")

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        self.heard.append(step)


def test_a_mirror_that_breaks_is_let_go_and_the_run_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    fragile = Fragile()
    mirror = Mirror(fragile)
    mirror.log_metrics({"a": 1.0}, 1)
    mirror.log_hyperparams({})
    mirror.log_metrics({"a": 2.0}, 2)
    mirror.finalize("success")
    assert fragile.heard == [1]
    assert capsys.readouterr().err == "Fragile is lost (no network); the run goes on without it.\n"


def test_weights_and_biases_without_an_account_or_a_network(tmp_path: Path) -> None:
    """The offline run is read back by wandb's own inspector."""
    home = {"HOME": str(tmp_path), "WANDB_API_KEY": ""}
    knobs = ("logger=wandb", "logger.offline=true", "hydra.run.dir=run", *SHORT)
    done = Process("smoothpl.train", *knobs, cwd=tmp_path, **home).wait()
    assert done.returncode == 0, done.stderr
    record = read(tmp_path / "run")
    (file,) = (tmp_path / "run").rglob("*.wandb")
    command = [Path(sys.executable).parent / "wandb", "leet", "inspect", "--summary", "--json", file]
    shown = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    text = json.dumps(json.loads(shown.stdout))
    for word in ("smooth, fold 0, seed 2046", "digits_40", "error_median20", "threshold"):
        assert word in text
    assert str(record.error)[:5] in text


def test_without_a_key_it_says_at_once_what_to_do(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "WANDB_API_KEY": "", "NETRC": str(tmp_path / "none")}
    done = Process("smoothpl.train", "logger=wandb", *SHORT, cwd=tmp_path, **home).wait()
    assert done.returncode == 1
    assert "logger=wandb finds no key: set WANDB_API_KEY" in done.stderr
    assert "logger.offline=true" in done.stderr
    assert not (tmp_path / "outputs").exists()
