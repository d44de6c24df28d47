from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

from smoothpl.config.compose import compose_checked
from smoothpl.config.overrides import CommandLine, is_sweep, key_of, quoted, value_of


@pytest.mark.parametrize(
    ("arguments", "flags", "words"),
    [
        ("fold=1 -m seed=2", "-m", "fold=1 seed=2"),
        ("--config-dir mine shape=own --cfg job", "--config-dir mine --cfg job", "shape=own"),
        ("--config-dir=mine shape=own", "--config-dir=mine", "shape=own"),
        ("--info fold=1", "--info", "fold=1"),
        ("~callbacks.purity +a.b=1 x", "", "~callbacks.purity +a.b=1 x"),
        ("", "", ""),
    ],
)
def test_flags_with_their_values_are_kept_apart_from_overrides(arguments: str, flags: str, words: str) -> None:
    line = CommandLine.parse(arguments.split())
    assert line == CommandLine(tuple(flags.split()), tuple(words.split()))
    assert line.arguments == [*flags.split(), *words.split()]


@pytest.mark.parametrize(
    ("word", "key", "value"),
    [
        ("threshold=0.9", "threshold", "0.9"),
        ("+a.b=c", "a.b", "c"),
        ("~callbacks.purity", "callbacks.purity", None),
        ("resume='a, =b'", "resume", "a, =b"),
        ('data.root="x y"', "data.root", "x y"),
        ("resume=null", "resume", None),
        ("fold=0,1", "fold", "0,1"),
        ("fold=range(3)", "fold", "range(3)"),
        ("data.root=a'b", "data.root", "a'b"),  # Hydra could not read it
        ("data.root=", "data.root", ""),
    ],
)
def test_a_word_is_its_key_and_what_hydra_makes_of_its_value(word: str, key: str, value: str | None) -> None:
    assert (key_of(word), value_of(word)) == (key, value)


@pytest.mark.parametrize(
    ("word", "is_one"), [("fold=0,1", True), ("fold=range(3)", True), ("fold=1", False), ("a='b,c'", False)]
)
def test_a_sweep_is_recognised_as_hydra_does_it(word: str, is_one: bool) -> None:
    assert is_sweep(word) == is_one


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=30))
def test_whatever_is_quoted_reaches_hydra_as_it_was(text: str) -> None:
    assert value_of(f"resume={quoted(text)}") == text
    assert not OverridesParser.create().parse_override(f"resume={quoted(text)}").is_sweep_override()


def test_later_words_win_and_what_is_added_takes_the_place_of_what_was_typed() -> None:
    line = CommandLine.parse(["fold=1", "seed=2", "fold=3"])
    assert (line.get("fold"), line.get("seed"), line.get("threshold")) == ("3", "2", None)
    assert line.adding({"fold": 5, "max_steps": 7}).words == ("seed=2", "fold=5", "max_steps=7")
    assert line.without("fold").words == ("seed=2",)
    assert line.keys == {"fold", "seed"}


def test_an_earlier_command_line_is_repeated_but_for_what_is_typed_now() -> None:
    now = CommandLine.parse(["threshold=0.9", "-m"])
    earlier = CommandLine.parse(["--config-dir=mine", "threshold=0.8", "shape=own"])
    assert now.completed_by(earlier).arguments == ["--config-dir=mine", "-m", "threshold=0.9", "shape=own"]


@pytest.mark.parametrize(
    "flags", [["--config-dir", "my conf"], ["--config-dir=my conf"], ["-m", "-cd", "my conf"], ["-cd=my conf", "-m"]]
)
def test_a_folder_of_ones_own_yaml_is_a_word_for_compose(flags: list[str]) -> None:
    line = CommandLine.parse([*flags, "shape=mine"])
    assert line.words == ("shape=mine",)
    assert line.words_to_compose == ("shape=mine", f"hydra.searchpath=['file://{Path.cwd()}/my conf']")
    for others in ([], ["-m"]):
        assert CommandLine.parse([*others, "shape=mine"]).words_to_compose == ("shape=mine",)


def test_options_of_ones_own_are_composed(tmp_path: Path) -> None:
    (tmp_path / "it's" / "shape").mkdir(parents=True)
    (tmp_path / "it's" / "shape" / "mine.yaml").write_text("_target_: smoothpl.pseudo.Power\nmu: 1.5\n")
    line = CommandLine.parse(["--config-dir", str(tmp_path / "it's"), "shape=mine"])
    assert compose_checked(line.words_to_compose).shape.mu == 1.5
