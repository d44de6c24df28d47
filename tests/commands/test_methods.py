from pathlib import Path

import pytest

from smoothpl.commands import methods
from smoothpl.errors import ConfigError
from tests.support.composing import composed, options

DOCS = Path(__file__).parents[2] / "docs" / "methods.md"


def test_the_list_in_the_docs_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    methods.main([])
    printed = capsys.readouterr().out
    assert printed == DOCS.read_text()
    listed = [line[3:] for line in printed.splitlines() if line.startswith("## ")]
    assert listed == [name for name in options("method") if composed(f"method={name}").policy is not None]
    assert max(map(len, printed.splitlines())) <= 80


def test_there_are_no_options() -> None:
    with pytest.raises(ConfigError, match="shape=linear is not an option of this command; its options are none"):
        methods.main(["shape=linear"])
