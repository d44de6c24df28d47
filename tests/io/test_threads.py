"""OpenMP itself is asked how its threads wait: OMP_DISPLAY_ENV makes it print its settings when it is loaded."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from smoothpl.io.threads import OWN, POLITE, wait_politely

GNU = Path(torch.__file__).parent / "lib" / "libgomp.so.1"
"""The OpenMP that torch's wheels for Linux bring along."""
LOADED = f"import ctypes; ctypes.CDLL({str(GNU)!r})"
TRAIN = ("max_steps=2", "eval_every=2", "batch_size=4", "pictures=false", "hydra.run.dir=run")
"""Convolutions and sums over enough numbers that two threads share them."""
has_gnu = pytest.mark.skipif(not GNU.is_file(), reason="torch uses another OpenMP than GNU's")


@pytest.fixture
def untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OWN:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch")


@pytest.mark.usefixtures("without_torch")
def test_threads_wait_politely_where_nobody_has_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"HOME": "/"})
    wait_politely()
    assert os.environ == {"HOME": "/"} | POLITE


@pytest.mark.usefixtures("without_torch")
@pytest.mark.parametrize("name", OWN)
def test_what_somebody_has_decided_stays_as_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {name: ""})
    wait_politely()
    assert os.environ == {name: ""}


def test_nothing_is_set_that_has_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "torch" in sys.modules
    monkeypatch.setattr(os, "environ", {})
    wait_politely()
    assert os.environ == {}


@has_gnu
@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("program", "own", "spins"),
    [
        (LOADED, {}, "300000"),  # else this test could not fail
        (f"import smoothpl; {LOADED}", {}, "1000"),
        (f"import smoothpl.train; {LOADED}", {}, "1000"),
        (f"import smoothpl.__main__; {LOADED}", {}, "1000"),
        (f"import smoothpl; {LOADED}", {"GOMP_SPINCOUNT": "1234"}, "1234"),
        (f"import smoothpl; {LOADED}", {"OMP_WAIT_POLICY": "active"}, "30000000000"),
    ],
)
def test_openmp_is_told_in_time_by_every_way_in(program: str, own: dict[str, str], spins: str) -> None:
    assert spin_counts([sys.executable, "-c", program], Path.cwd(), own) == {spins}


@has_gnu
@pytest.mark.usefixtures("untouched")
def test_a_run_waits_politely_or_as_it_is_told_and_computes_the_same_bits(tmp_path: Path) -> None:
    """By the module and by the console command, on two threads."""
    console = Path(sys.executable).parent / "smoothpl"
    ways: dict[str, list[str | Path]] = {"polite": [sys.executable, "-m", "smoothpl.train"], "told": [console, "train"]}
    owns: dict[str, dict[str, str]] = {"polite": {}, "told": {"OMP_WAIT_POLICY": "active", "GOMP_SPINCOUNT": "300000"}}
    states = {}
    for name, command in ways.items():
        (tmp_path / name).mkdir()
        found = spin_counts([*command, *TRAIN], tmp_path / name, {"OMP_NUM_THREADS": "2", **owns[name]})
        assert found == {"1000" if name == "polite" else "300000"}
        states[name] = torch.load(tmp_path / name / "run" / "last.ckpt", weights_only=True)["state_dict"]
    assert states["polite"].keys() == states["told"].keys()
    for key, tensor in states["polite"].items():
        assert torch.equal(tensor, states["told"][key]), key


def spin_counts(command: list[str | Path], folder: Path, own: dict[str, str]) -> set[str]:
    """How often threads look again before they sleep, by every OpenMP that the process has loaded."""
    environment = os.environ | {"OMP_DISPLAY_ENV": "verbose", **own}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {*re.findall(r"GOMP_SPINCOUNT = '(\d+)'", done.stderr)}
