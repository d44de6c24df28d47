from importlib.metadata import version
from pathlib import Path

import pytest

from smoothpl.cli.help import asks_for_help
from smoothpl.config.overrides import CommandLine
from tests.support.processes import Process


@pytest.mark.parametrize(
    ("arguments", "is_so"),
    [("--help", True), ("-h fold=1", True), ("--help --config-dir x", False), ("fold=1", False), ("", False)],
)
def test_help_is_asked_for_by_its_flag_alone(arguments: str, is_so: bool) -> None:
    assert asks_for_help(CommandLine.parse(arguments.split())) == is_so


def test_what_is_shown_is_what_hydra_would_show(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    ours, hydras = (
        Process("smoothpl.train", "threshold=0.5", "--help", *flags, cwd=tmp_path).wait()
        for flags in ((), ("--config-dir", "mine"))
    )
    assert (ours.returncode, ours.stderr) == (0, "")
    assert "    threshold=0.5\n" in ours.stdout
    assert ours.stdout == hydras.stdout


def test_help_understands_the_same_words_as_a_run(tmp_path: Path) -> None:
    done = Process("smoothpl.train", "method=freematch", "fairness=null", "--help", cwd=tmp_path).wait()
    assert (done.returncode, done.stderr) == (0, "")
    assert "fairness: freematch, none" in done.stdout


def test_the_version_is_ours_and_not_hydras(tmp_path: Path) -> None:
    done = Process("smoothpl.train", "--version", cwd=tmp_path).wait()
    assert (done.returncode, done.stdout, done.stderr) == (0, f"smoothpl {version('smoothpl')}\n", "")
