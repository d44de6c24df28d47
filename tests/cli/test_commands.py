import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

import smoothpl.commands
from smoothpl.cli import commands
from smoothpl.cli.usage import options_of
from smoothpl.inference.export import SUFFIXES
from smoothpl.results.report import CHOICES, Options

FILES = sorted(path.stem for path in Path(smoothpl.commands.__file__).parent.glob("[a-z]*.py"))


def test_a_command_is_a_file() -> None:
    assert commands.command_names() == ["train", *FILES]


@pytest.mark.parametrize("name", ["train", *FILES])
def test_every_command_has_one_line_that_describes_it(name: str) -> None:
    line = commands.describe(name)
    assert re.fullmatch(r"[a-z].*[^.]", line)
    assert line in commands.overview()


@pytest.mark.parametrize("name", FILES)
def test_the_usage_is_read_as_it_would_be_imported(name: str) -> None:
    usage = commands.usage_of(name)
    assert usage == import_module(f"smoothpl.commands.{name}").USAGE
    assert usage.startswith(f"smoothpl {name}")
    assert max(map(len, usage.splitlines())) <= 80


@pytest.mark.parametrize("name", FILES)
def test_an_option_of_the_first_line_is_explained_below(name: str) -> None:
    usage = commands.usage_of(name)
    first = {key for key in re.findall(r"(\w+)=", usage.partition("\n")[0]) if key not in ("knob", "experiment")}
    assert first <= {*options_of(usage)}


def test_the_choices_of_options_are_those_of_the_code() -> None:
    of_report = options_of(commands.usage_of("report"))
    assert {*of_report} == {*(each.name for each in fields(Options)), "out"}
    for each in fields(Options):
        assert of_report[each.name].default == each.default
    for name, choices in CHOICES.items():
        assert of_report[name].choices == list(choices)
    assert options_of(commands.usage_of("export"))["format"].choices == list(SUFFIXES)


def test_a_command_without_a_usage_is_a_mistake_of_ours() -> None:
    with pytest.raises(LookupError, match="has no USAGE"):
        commands.usage_of("train")
