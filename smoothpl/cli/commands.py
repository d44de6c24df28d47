"""Which commands there are. A command is a file in smoothpl/commands; the first line of its docstring describes it."""

import ast
import difflib
import sys
from importlib import import_module
from pathlib import Path
from runpy import run_module

PACKAGE = Path(__file__).parents[1]
TRAIN = "train"


def command_names() -> list[str]:
    return [TRAIN, *sorted(path.stem for path in (PACKAGE / "commands").glob("*.py") if path.stem != "__init__")]


def parse(name: str) -> ast.Module:
    """Read, not imported: a list of commands must not wait for torch."""
    path = PACKAGE / "train.py" if name == TRAIN else PACKAGE / "commands" / f"{name}.py"
    return ast.parse(path.read_text(encoding="utf-8"))


def describe(name: str) -> str:
    docstring = ast.get_docstring(parse(name)) or ""
    return docstring.splitlines()[0].partition(": ")[2]


def usage_of(name: str) -> str:
    """The page that --help of a command prints; train's is composed by Hydra and not here."""
    for statement in parse(name).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="USAGE")], value=ast.Constant(value=str(usage))):
                return usage
    raise LookupError(f"smoothpl/commands/{name}.py has no USAGE.")


def overview() -> str:
    lines = [f"  {name:12} {describe(name)}" for name in command_names()]
    return "\n".join(
        [
            "smoothpl: image classification with few labels.",
            "",
            "Usage: smoothpl <command> [key=value ...]",
            "",
            *lines,
            "",
            "smoothpl <command> --help explains a command.",
        ]
    )


def unknown(name: str) -> str:
    near = difflib.get_close_matches(name, command_names(), n=1)
    if "=" in name:
        advice = f"a command comes first, as in smoothpl {TRAIN} {name}"
    elif near:
        advice = f"did you mean smoothpl {near[0]}?"
    else:
        advice = "smoothpl --help lists the commands."
    return f"smoothpl {name}: there is no such command; {advice}"


def run(name: str, arguments: list[str]) -> None:
    """The module of a command is imported only when it is called."""
    if name == TRAIN:  # the main module, as python -m makes it: trainer=ddp starts other processes by its name
        sys.argv[1:] = arguments
        run_module(f"smoothpl.{TRAIN}", run_name="__main__", alter_sys=True)
        return
    from smoothpl.cli.front_door import run_command

    run_command(lambda: import_module(f"smoothpl.commands.{name}").main(arguments))
