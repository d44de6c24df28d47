"""Completion as shells do it: the script is read by a real one, and asked what may follow."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from smoothpl.cli.commands import command_names
from smoothpl.cli.completion import SHELLS
from smoothpl.commands import completion
from smoothpl.errors import ConfigError
from tests.support.composing import options

IN_BASH = r"""
source "$1"
COMP_WORDS=("${@:2}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_smoothpl
printf '%s\n' "${COMPREPLY[@]}"
"""
SHELL = {"bash": ["bash", "--norc", "-i"], "zsh": ["zsh", "-f", "-i"]}
READ = {"bash": "source ./script.bash", "zsh": "autoload -Uz compinit; compinit -D -u; source ./script.zsh"}
SHOW = "smoothpl() { printf '<%s>' \"$@\"; echo done; }; echo ready\n"
PATIENCE = 60  # seconds


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the script of every shell, and with other folders."""
    folder = tmp_path_factory.mktemp("scripts")
    for shell in SHELLS:
        command = [sys.executable, "-m", "smoothpl", "completion", shell]
        (folder / f"script.{shell}").write_text(
            subprocess.run(command, capture_output=True, text=True, check=True).stdout
        )
    (folder / "outputs").mkdir()
    (folder / "photos of cats").mkdir()
    return folder


def ask(shell: str, scripts: Path, line: str) -> set[str]:
    """What the shell offers for the last word of a line."""
    if shell == "fish":
        command = ["fish", "--no-config", "-c", f"source script.fish; complete -C '{line}'"]
    else:  # which takes key=value apart into three words
        apart = [part for word in line.split(" ") for part in word.replace("=", "\n=\n").strip("\n").split("\n")]
        command = ["bash", "--norc", "-c", IN_BASH, "bash", "./script.bash", *apart]
    environment = {"PATH": os.environ["PATH"], "HOME": str(scripts)}
    done = subprocess.run(command, cwd=scripts, env=environment, capture_output=True, text=True, check=True)
    return {each.split("\t")[0].rstrip("/") for each in done.stdout.splitlines()} - {""}


def values(shell: str, key: str, found: set[str]) -> set[str]:
    """bash completes what stands after the "="; fish the whole word."""
    return {each.removeprefix(f"{key}=") if shell == "fish" else each for each in found}


def type_into(shell: str, scripts: Path, line: str) -> list[str]:
    """Types a line with TABs into a terminal. -> the arguments that the command would get."""
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "HOME": str(scripts), "TERM": "dumb"}
    streams: dict[str, Any] = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with subprocess.Popen(SHELL[shell], cwd=scripts, env=environment, start_new_session=True, **streams) as process:
        os.close(theirs)
        os.write(ours, f"{READ[shell]}; {SHOW}".encode())
        read_until(ours, "\nready")
        os.write(ours, f"{line}\n".encode())
        shown = read_until(ours, ">done")
        process.kill()
    os.close(ours)
    (printed,) = [line for line in shown.splitlines() if line.endswith(">done")]
    return re.findall("<(.*?)>", printed)


def read_until(terminal: int, word: str) -> str:
    text, end = "", time.monotonic() + PATIENCE
    while word not in text:
        assert select.select([terminal], [], [], end - time.monotonic())[0], text
        text += os.read(terminal, 4096).decode().replace("\r", "")
    return text


several_shells = pytest.mark.parametrize(
    "shell", [pytest.param(shell, marks=needs(shell)) for shell in ("bash", "fish")]
)


@several_shells
def test_commands_are_completed(shell: str, scripts: Path) -> None:
    assert ask(shell, scripts, "smoothpl ") >= {*command_names()}
    assert ask(shell, scripts, "smoothpl tra") == {"train"}


@several_shells
def test_knobs_and_groups_are_completed(shell: str, scripts: Path) -> None:
    assert ask(shell, scripts, "smoothpl train thresh") == {"threshold=", "threshold_floor="}
    assert ask(shell, scripts, "smoothpl train meth") == {"method="}
    assert ask(shell, scripts, "smoothpl sheet meth") == {"method="}
    assert not ask(shell, scripts, "smoothpl predict meth")


@several_shells
@pytest.mark.parametrize("group", ["method", "shape", "data", "experiment"])
def test_the_options_of_a_group_are_completed(shell: str, scripts: Path, group: str) -> None:
    assert values(shell, group, ask(shell, scripts, f"smoothpl train {group}=")) == {*options(group)}


@several_shells
def test_values_are_completed(shell: str, scripts: Path) -> None:
    smooth = {name for name in options("method") if name.startswith("smooth")}
    assert values(shell, "method", ask(shell, scripts, "smoothpl train fold=1 method=smooth")) == smooth
    assert values(shell, "format", ask(shell, scripts, "smoothpl export format=torchs")) == {"torchscript"}
    assert values(shell, "trust", ask(shell, scripts, "smoothpl predict trust=t")) == {"true"}
    assert values(shell, "compile", ask(shell, scripts, "smoothpl train compile=f")) == {"false"}


@several_shells
def test_the_next_value_of_a_sweep_is_completed(shell: str, scripts: Path) -> None:
    found = values(shell, "method", ask(shell, scripts, "smoothpl train -m method=fixmatch,ud"))
    assert found == {"fixmatch,uda"}


@several_shells
def test_the_options_of_a_command_are_completed(shell: str, scripts: Path) -> None:
    own = {"run=", "images=", "out=", "top=", "probabilities=", "engine=", "trust="}
    assert ask(shell, scripts, "smoothpl predict ") - {"--help"} == own
    assert ask(shell, scripts, "smoothpl completion ") - {"--help"} == {*SHELLS}


@several_shells
def test_directories_are_completed_where_they_may_be_typed(shell: str, scripts: Path) -> None:
    assert ask(shell, scripts, "smoothpl report out") == {"out=", "outputs"}
    if shell != "bash":  # there the shell itself does it when the function has no reply
        assert values(shell, "run", ask(shell, scripts, "smoothpl predict run=outp")) == {"outputs"}
    assert "photos of cats" not in ask(shell, scripts, "smoothpl train p")


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=needs(shell)) for shell in SHELL])
@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("smoothpl trai\tmeth\tfixm\tmax_s\t5", ["train", "method=fixmatch", "max_steps=5"]),
        ("smoothpl train -m method=fixmatch,ud\tshape=li\t", ["train", "-m", "method=fixmatch,uda", "shape=linear"]),
        ("smoothpl predict tru\ttr\timages=pho\t", ["predict", "trust=true", "images=photos of cats"]),
        ("smoothpl report outp\t basel\tuda", ["report", "outputs", "baseline=uda"]),
        ("smoothpl completion zs\t", ["completion", "zsh"]),
    ],
)
def test_a_line_is_completed_in_a_terminal(shell: str, line: str, arguments: list[str], scripts: Path) -> None:
    assert [each.rstrip("/") for each in type_into(shell, scripts, line)] == arguments


@needs("bash")
def test_a_bash_that_does_not_break_words_at_equals_signs_is_served_too(scripts: Path) -> None:
    command = ["bash", "--norc", "-c", IN_BASH, "bash", "./script.bash", "smoothpl", "train", "method=fixm"]
    done = subprocess.run(command, cwd=scripts, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["method=fixmatch"]


def test_the_script_is_made_without_torch(capsys: pytest.CaptureFixture[str]) -> None:
    code = "import sys\nfrom smoothpl.commands import completion\ncompletion.main(['bash'])\n"
    code += "assert not {'torch', 'hydra'} & {*sys.modules}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    completion.main(["bash"])
    assert done.stdout == capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["csh"], ["bash", "zsh"]])
def test_one_shell_must_be_named(arguments: list[str]) -> None:
    with pytest.raises(ConfigError, match="name one shell: bash, zsh, fish"):
        completion.main(arguments)
