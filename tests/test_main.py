"""The console command as a newcomer meets it."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from smoothpl.cli.commands import command_names
from smoothpl.record.record import read
from tests.support.processes import Process

CONSOLE = Path(sys.executable).parent / "smoothpl"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_the_commands_are_listed_without_waiting_for_torch_or_hydra(arguments: list[str]) -> None:
    program = (
        "import sys\n"
        f"sys.argv = ['smoothpl', *{arguments}]\n"
        "from smoothpl.__main__ import main\n"
        "main()\n"
        "assert not {'torch', 'hydra', 'numpy', 'rich'} & {*sys.modules}, sorted(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ")] == command_names()
    assert max(map(len, lines)) <= 80


def test_the_console_command_is_the_module() -> None:
    by_name, by_module = (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for command in ([CONSOLE], [sys.executable, "-m", "smoothpl"])
    )
    assert by_name == by_module


def test_its_version_is_that_of_the_package(tmp_path: Path) -> None:
    assert Process("smoothpl", "--version", cwd=tmp_path).wait().stdout == f"smoothpl {version('smoothpl')}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian", "method=smooth"], "smoothpl trian: there is no such command; did you mean smoothpl train?"),
        (["xyz"], "smoothpl xyz: there is no such command; smoothpl --help lists the commands."),
        (["method=smooth"], "a command comes first, as in smoothpl train method=smooth"),
        (["__init__"], "there is no such command"),
    ],
)
def test_an_unknown_command_is_answered_with_what_is_near(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = Process("smoothpl", *arguments, cwd=tmp_path).wait()
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", command_names())
def test_the_help_of_every_command_fits_a_terminal_and_does_not_wait_for_torch(name: str) -> None:
    program = (
        "import sys\n"
        f"sys.argv = ['smoothpl', {name!r}, '--help']\n"
        "from smoothpl.__main__ import main\n"
        "try:\n    main()\n"
        "except SystemExit as ended:\n    assert not ended.code\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"smoothpl {name}" in done.stdout or "smoothpl.train" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_train_with_two_processes_is_python_m_smoothpl_train(tmp_path: Path) -> None:
    """Lightning starts the second one by the name of the main module."""
    two = ("trainer=ddp", "trainer.devices=2", "trainer.accelerator=cpu")
    knobs = ("hydra.run.dir=run", "max_steps=2", "eval_every=2", "batch_size=4", "pictures=false")
    done = Process("smoothpl", "train", *two, *knobs, cwd=tmp_path).wait()
    assert done.returncode == 0, done.stderr
    record = read(tmp_path / "run")
    assert record.status == "finished"
    assert sum(map(sum, record.confusion)) == record.num_test  # each process has evaluated its half
