import sys

import pytest

from smoothpl.errors import ConfigError
from smoothpl.looking import read_command_line


def test_the_commands_own_words_are_kept_apart_from_the_knobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["look", "fold=3", "out=a=b.png", "threshold=0.9"])
    config, words = read_command_line("usage", "out")
    assert (config.fold, config.threshold) == (3, 0.9)
    assert words == {"out": "a=b.png"}


def test_knobs_are_checked_here_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["look", "threshold=2"])
    with pytest.raises(ConfigError, match="threshold=2"):
        read_command_line("usage")
