import sys

import pytest

from smoothpl.cli.arguments import flag, read_command_line, read_own_words
from smoothpl.errors import ConfigError


def test_the_commands_own_words_are_kept_apart_from_the_knobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["look", "fold=3", "out=a=b.png", "threshold=0.9"])
    config, words = read_command_line("usage", "out")
    assert (config.fold, config.threshold) == (3, 0.9)
    assert words == {"out": "a=b.png"}


def test_knobs_are_checked_here_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["look", "threshold=2"])
    with pytest.raises(ConfigError, match="threshold=2"):
        read_command_line("usage")


def test_a_command_with_words_of_its_own_takes_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["command", "run=a=b", "top=3"])
    assert read_own_words("usage", "run", "top") == {"run": "a=b", "top": "3"}
    with pytest.raises(ConfigError, match="top=3 is not a word of this command"):
        read_own_words("usage", "run")


def test_a_flag_is_true_or_false() -> None:
    assert (flag({"trust": "True"}, "trust"), flag({}, "trust")) == (True, False)
    with pytest.raises(ConfigError, match="trust=yes must be true or false"):
        flag({"trust": "yes"}, "trust")
