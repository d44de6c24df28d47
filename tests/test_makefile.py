"""What make would install: asked of make itself, which then does nothing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EVERYTHING, A_RUN = "--editable '.[dev]'", "--editable '.[backbone,export,parallel]'"


def plan(folder: Path, target: str, *stamps: str) -> str:
    """The commands of a target, in a checkout where some things have been installed."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").mkdir()
    for name in stamps:
        (folder / ".venv" / name).touch()
    command = ["make", "--dry-run", "--no-print-directory", target]
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # this may be make test
    return subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True, check=True).stdout


def test_a_run_installs_no_more_than_it_needs(tmp_path: Path) -> None:
    commands = plan(tmp_path, "train")
    assert A_RUN in commands
    assert "dev" not in commands
    assert commands.index("pip install") < commands.index("smoothpl.train")


@pytest.mark.parametrize("target", ["install", "test", "lint", "docs", "coverage", "bench", "wheel", "format"])
@pytest.mark.parametrize("stamps", [[], ["installed-run"]])
def test_whatever_else_there_is_to_do_has_everything_installed(tmp_path: Path, target: str, stamps: list[str]) -> None:
    assert EVERYTHING in plan(tmp_path, target, *stamps)


@pytest.mark.parametrize(
    ("target", "stamp"), [("train", "installed-run"), ("train", "installed"), ("test", "installed")]
)
def test_what_was_installed_is_not_installed_again(tmp_path: Path, target: str, stamp: str) -> None:
    assert "pip" not in plan(tmp_path, target, stamp)
