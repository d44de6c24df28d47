"""What the documents tell people to type can be typed, and what they name exists."""

import json
import re
import shlex
import tarfile
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from benchmarks.line import Line
from benchmarks.line import to_markdown as line_by_line
from benchmarks.methods_table import table as methods_table
from smoothpl.cli.commands import TRAIN, command_names
from smoothpl.config.compose import compose_checked
from smoothpl.results.render import to_markdown
from smoothpl.results.report import Options, build_report
from smoothpl.results.runs import find_runs
from smoothpl.run.hydra_sweeper import expand
from tests.support.composing import OWN

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
EXPECTED = {  # document: how many commands it has at least, of smoothpl.train and of the others
    "README.md": (8, 8),
    "CONTRIBUTING.md": (2, 2),
    "docs/all_methods.md": (0, 1),
    "docs/experiments.md": (24, 12),
    "docs/backbones.md": (4, 1),
    "docs/comparison.md": (0, 1),
    "docs/extending.md": (5, 0),
    "docs/index.md": (5, 6),
    "docs/library.md": (0, 1),
    "docs/methods.md": (0, 1),
    "docs/own_images.md": (7, 6),
    "docs/performance.md": (0, 1),
    "docs/reliability.md": (3, 0),
    "docs/results.md": (14, 5),
    "docs/settings.md": (3, 3),
}
KNOBS, PLACES = {"equilibrium", "features", "folds", "generations", "jobs", "sheet"}, {"completion", "report", "show"}
"""Commands that take more than options of their own."""


class Command(NamedTuple):
    name: str
    words: list[str]


def commands_in(text: str) -> Iterator[Command]:
    """Those in code, in blocks and within lines, with what is to be typed after them."""
    prose = []
    fence = None
    for line in text.splitlines():
        if line.startswith("```"):
            fence = line[3:] if fence is None else None
        elif fence is None:
            prose.append(line)
        elif fence in ("", "sh"):
            yield from commands_of(line)
    for span in re.findall(r"`([^`]+)`", "\n".join(prose)):
        yield from commands_of(" ".join(span.split()))


def commands_of(line: str) -> Iterator[Command]:
    for part in line.split(" | "):
        found = re.match(r"(?:python -m smoothpl\.(train)|smoothpl ([a-z]+))(?: (.*))?$", part)
        if found:
            yield Command(found[1] or found[2], shlex.split(found[3] or "", comments=True))


COMMANDS = [
    pytest.param(command, id=f"{name}-{number}-{command.name}")
    for name in EXPECTED
    for number, command in enumerate(commands_in((ROOT / name).read_text()))
]


def test_every_document_with_commands_is_looked_at() -> None:
    pages = [README, ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    assert {*EXPECTED} == {path.relative_to(ROOT).as_posix() for path in pages if any(commands_in(path.read_text()))}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_commands_of_a_document_are_found(name: str) -> None:
    found = [command.name for command in commands_in((ROOT / name).read_text())]
    trains, others = EXPECTED[name]
    assert found.count(TRAIN) >= trains
    assert len(found) - found.count(TRAIN) >= others


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_document_says_can_be_typed(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SMOOTHPL_DATA", str(tmp_path))
    assert command.name in command_names()
    words = [word for word in typed_before(">", command.words) if word not in ("-m", "--help")]
    if command.name == TRAIN:
        composes(*words)
        return
    options, rest = read_by_its_own_reader(command.name, words, monkeypatch)
    assert all(options.values())
    if command.name in KNOBS:
        composes(*rest)
    else:
        assert command.name in PLACES or not rest
        assert not any("=" in word for word in rest)


def typed_before(sign: str, words: list[str]) -> list[str]:
    return words[: words.index(sign)] if sign in words else words


@cache
def composes(*words: str) -> None:
    """Except for what only the reader has: runs to resume, a folder of images, YAML of their own."""
    if "--config-dir" in words:
        return
    kept = [word for word in words if not word.startswith("resume=") and word not in ("--cfg", "job")]
    if "data=folder" in kept:
        kept = [*OWN, "benchmark=folder", *(word for word in kept if not word.startswith("data.root="))]
    compose_checked([word for word in expand(kept)[0] if not word.startswith(("hydra.", "hydra/"))])


class Read(Exception):  # noqa: N818
    """In place of what a command does with its arguments."""


def read_by_its_own_reader(
    name: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, str], list[str]]:
    """Options and everything else, as the command itself reads them before it does anything."""
    module = import_module(f"smoothpl.commands.{name}")
    (reader,) = {"read_arguments", "read_options"} & {*vars(module)}
    read = getattr(module, reader)

    def stop(*arguments: Any, **options: Any) -> None:
        raise Read(read(*arguments, **options))

    monkeypatch.setattr(module, reader, stop)
    with pytest.raises(Read) as stopped:
        module.main(words)
    (found,) = stopped.value.args
    return found.options, found.rest


def test_a_command_that_cannot_be_typed_would_be_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = "`smoothpl sheet colour=red` and\n```sh\npython -m smoothpl.train shape=round  # no such shape\n```\n"
    wrong = list(commands_in(text))
    assert wrong == [Command("train", ["shape=round"]), Command("sheet", ["colour=red"])]
    for command in (*wrong, Command("predict", ["run=a", "images=b", "size=3"]), Command("calibrate", [])):
        with pytest.raises(Exception, match=r"shape|colour|size|calibrate"):
            test_what_a_document_says_can_be_typed(command, monkeypatch, tmp_path)


def table_of_experiments() -> list[tuple[str, int]]:
    text = (ROOT / "docs" / "experiments.md").read_text()
    return [(words, int(runs)) for words, runs in re.findall(r"`python -m smoothpl\.train -m (.+?)` \| (\d+) \|", text)]


@pytest.mark.parametrize(("words", "runs"), table_of_experiments())
def test_a_documented_experiment_has_the_runs_that_are_documented(
    words: str, runs: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SMOOTHPL_DATA", str(tmp_path))
    found = expand(shlex.split(words))
    assert len(found) == runs
    for job in (found[0], found[-1]):
        compose_checked(job)


def test_every_experiment_is_documented() -> None:
    named = {
        word.partition("=")[2] for words, _ in table_of_experiments() for word in words.split() if "experiment" in word
    }
    assert len(table_of_experiments()) >= 21
    assert named == {path.stem for path in (ROOT / "conf" / "experiment").glob("*.yaml")}


def test_targets_of_make_and_benchmarks_that_are_named_exist() -> None:
    text = "".join((ROOT / name).read_text() for name in (*EXPECTED, "docs/performance.md"))
    targets = {*re.findall(r"(?:^|`)make ([a-z]+)", text, flags=re.MULTILINE)}
    assert len(targets) >= 8
    assert targets <= {*re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)}
    modules = {*re.findall(r"python -m benchmarks\.(\w+)", text)}
    assert len(modules) >= 3
    assert modules <= {path.stem for path in (ROOT / "benchmarks").glob("*.py")}


def test_every_command_is_documented() -> None:
    documented = {command.name for name in EXPECTED for command in commands_in((ROOT / name).read_text())}
    assert documented == {*command_names()}


def test_the_tables_of_results_are_what_their_records_say(tmp_path: Path) -> None:
    with tarfile.open(ROOT / "docs" / "results" / "records.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    made = ""
    for folder in (tmp_path / "records").iterdir():
        made += "\n".join(map(to_markdown, build_report(find_runs([folder]), Options(), with_pictures=False).sheets))
    together = build_report(find_runs([tmp_path / "records"]), Options(duplicates="newest"), with_pictures=False)
    made += "\n".join(map(to_markdown, together.sheets))
    text = (ROOT / "docs" / "results.md").read_text()
    tables = re.findall(r"^### .+\n\n(?:\|.*\n)+", text, flags=re.MULTILINE)
    assert len(tables) >= 20
    for table in tables:
        assert table in made


def test_the_tables_of_all_methods_are_what_their_records_say(tmp_path: Path) -> None:
    with tarfile.open(ROOT / "docs" / "results" / "all_methods.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    text = (ROOT / "docs" / "all_methods.md").read_text()
    tables = re.findall(r"^### (\S+)\n\n\| method", text, flags=re.MULTILINE)
    assert tables
    for task in tables:  # records of an unfinished one wait there for the others
        assert to_markdown(methods_table(tmp_path / "all_methods" / task.replace("\\", ""))).strip() in text


def test_the_table_of_performance_is_what_was_measured() -> None:
    measured = json.loads((ROOT / "docs" / "performance" / "measured.json").read_text())
    lines = [Line(**{name: line[name] for name in Line._fields}) for line in measured["lines"]]
    text = (ROOT / "docs" / "performance.md").read_text()
    assert line_by_line(lines) in text
    assert measured["commit"][:7] in text
