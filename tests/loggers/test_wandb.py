"""Real runs, read back by wandb's own inspector; and TensorBoard beside it, because all loggers at once is fine."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from smoothpl.loggers.curves import Curves
from smoothpl.loggers.wandb import WeightsAndBiases
from smoothpl.record.record import read
from tests.support.lives import killer
from tests.support.processes import Process, free_port

SHORT = ("max_steps=4", "eval_every=2", "log_every=2", "batch_size=4", "threshold=0.12")
OFFLINE = ("logger=[tensorboard,wandb]", "logger.wandb.offline=true")


def home(folder: Path) -> dict[str, str]:
    """The home of somebody who has no account."""
    return {"HOME": str(folder), "WANDB_API_KEY": "", "NETRC": str(folder / "none")}


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with two loggers that was killed and resumed, without an account or a network."""
    folder = tmp_path_factory.mktemp("logged")
    knobs = (*OFFLINE, "hydra.run.dir=run", *SHORT, killer("step", 3))
    done = Process("smoothpl.train", *knobs, cwd=folder, **home(folder)).wait()
    assert done.returncode == -signal.SIGKILL
    further = ("resume=run", "+callbacks.killer=null", "resume_allow=[callbacks.killer]")
    done = Process("smoothpl.train", *further, cwd=folder, **home(folder)).wait()
    assert done.returncode == 0, done.stderr
    assert "continues without it" not in done.stderr
    return folder / "run"


def inspect(file: Path) -> str:
    wandb = Path(sys.executable).parent / "wandb"
    command = [str(wandb), "leet", "inspect", "--summary", "--json", str(file)]
    shown = subprocess.run(command, capture_output=True, text=True, check=False, cwd=file.parent)
    assert shown.returncode == 0, shown.stderr
    return json.dumps(json.loads(shown.stdout))


def test_weights_and_biases_has_the_run_without_an_account_or_a_network(logged: Path) -> None:
    record = read(logged)
    _, last = sorted(logged.rglob("*.wandb"), key=lambda path: path.parent.name)
    text = inspect(last)
    for word in ("smooth, fold 0, seed 2046", "digits_40", "error_median20", "threshold", record.recipe):
        assert word in text
    assert str(record.error)[:5] in text


def test_a_resumed_run_is_the_same_run_of_wandb(logged: Path) -> None:
    assert read(logged).resumed_at == [2]
    first, second = logged.rglob("*.wandb")
    assert first.name == second.name  # which is run-<id>.wandb: the server makes one run of them


def test_pictures_are_there(logged: Path) -> None:
    pictures = [path.name for path in logged.rglob("media/images/*.png")]
    assert sum(name.startswith("confusion") for name in pictures) == 2
    assert sum(name.startswith("pseudo_labels") for name in pictures) == 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of tensorboard itself
def test_tensorboard_has_the_same_curves_and_pictures(logged: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(logged / "logs" / "tensorboard"), size_guidance={"images": 0})
    events.Reload()
    rows = Curves(logged).read()
    for key in ("val/error", "train/loss", "train/coverage", "train/purity"):
        expected = {int(row["step"]): float(row[key]) for row in rows if row[key]}
        assert {each.step: each.value for each in events.Scalars(key)} == pytest.approx(expected)
    assert set(events.Tags()["images"]) == {"confusion", "pseudo_labels"}
    assert events.Scalars("error")[-1].value == pytest.approx(read(logged).error)
    row = events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    assert read(logged).recipe.encode() in row


def test_without_a_key_it_says_at_once_what_to_do(tmp_path: Path) -> None:
    done = Process("smoothpl.train", "logger=wandb", *SHORT, cwd=tmp_path, **home(tmp_path)).wait()
    assert done.returncode == 1
    assert "logger=wandb finds no API key: set WANDB_API_KEY" in done.stderr
    assert "logger.wandb.offline=true" in done.stderr
    assert not (tmp_path / "outputs").exists()


def test_with_a_key_but_no_network_the_run_is_kept_offline(tmp_path: Path) -> None:
    nobody = {"WANDB_API_KEY": "k" * 40, "WANDB_BASE_URL": f"http://127.0.0.1:{free_port()}"}
    knobs = ("logger=wandb", "hydra.run.dir=run", "pictures=false", *SHORT)
    done = Process("smoothpl.train", *knobs, cwd=tmp_path, **(home(tmp_path) | nobody)).wait()
    assert done.returncode == 0, done.stderr
    assert f"cannot reach {nobody['WANDB_BASE_URL']}" in done.stderr
    assert "the run is kept offline; upload it later with `wandb sync`" in done.stderr
    assert len(list((tmp_path / "run").rglob("*.wandb"))) == 1


def test_a_run_that_failed_is_closed_and_the_next_one_is_another(tmp_path: Path) -> None:
    knobs = (
        "-m",
        "optim.learning_rate=1e30,0.03",
        "logger=wandb",
        "logger.wandb.offline=true",
        "pictures=false",
        *SHORT,
    )
    done = Process("smoothpl.train", *knobs, "hydra.sweep.dir=sweep", cwd=tmp_path, **home(tmp_path)).wait()
    assert done.returncode == 1
    first, second = sorted((tmp_path / "sweep").rglob("*.wandb"))
    assert first.parent.parent.parent != second.parent.parent.parent
    ends = {word for file in (first, second) for word in ("failed", "finished") if f'"{word}"' in inspect(file)}
    assert ends == {"failed", "finished"}


@pytest.mark.parametrize(("status", "code"), [("finished", 0), ("failed", 1), ("interrupted", 1)])
def test_wandb_is_told_how_the_run_ended(status: str, code: int) -> None:
    codes: list[int] = []

    def finish(exit_code: int) -> None:
        codes.append(exit_code)

    experiment = SimpleNamespace(summary={}, finish=finish)
    logger = SimpleNamespace(logger=SimpleNamespace(experiment=experiment))
    WeightsAndBiases.send_summary(logger, {"status": status, "error": 3.0})  # type: ignore[arg-type]
    assert codes == [code]
    assert experiment.summary == {"status": status, "error": 3.0}
