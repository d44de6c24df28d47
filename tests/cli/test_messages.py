import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from smoothpl.cli import messages
from smoothpl.cli.messages import Terminal, counted, first_few, inform, inform_once, say


def test_a_message_beside_the_result_is_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    inform("[bold] " + "x" * 200)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "[bold] " + "x" * 200 + "\n")


def test_a_result_is_one_line_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    say("model: [red] " + "x" * 200)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("model: [red] " + "x" * 200 + "\n", "")


@pytest.mark.parametrize(("number", "text"), [(0, ""), (2, "0, 1"), (5, "0, 1, 2, 3, 4"), (6, "0, 1, 2, 3, 4, ...")])
def test_the_first_names_stand_for_many(number: int, text: str) -> None:
    assert first_few([str(each) for each in range(number)]) == text


HOSTILE = "\x1b]0;title\x07\x1b[2J\rcat\x9b31m\u202egnp"


@pytest.mark.parametrize("speak", [inform, inform_once, say])
def test_names_that_would_steer_a_terminal_are_printed_with_escapes(
    speak: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    speak(f"{speak} labeled/{HOSTILE}/ä\udce4.png")
    shown = "".join(capsys.readouterr())
    assert "labeled/\\x1b]0;title\\x07\\x1b[2J\\rcat\\x9b31m\\u202egnp/ä\\udce4.png\n" in shown
    assert not {*shown} & {*"\x1b\x07\r\x9b\u202e\udce4"}


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_table_shows_hostile_names_and_keeps_its_own_colours(is_terminal: bool) -> None:
    table = Table("class")
    table.add_row(Text(HOSTILE, style="red"))
    table.add_row("plain")
    file = StringIO()
    colours = "standard" if is_terminal else None
    Terminal(file=file, force_terminal=is_terminal, width=80, color_system=colours).print(table)
    shown = file.getvalue()
    assert "\\x1b]0;title" in shown
    assert "plain" in shown
    assert ("\x1b[31m" in shown) == is_terminal
    assert not {*shown} & {*"\x07\r\x9b\u202e"}
    assert "\x1b]" not in shown
    assert "\x1b[2J" not in shown


def test_what_was_said_is_not_said_again_nor_by_other_processes_of_the_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for message in ("first news", "first news", "other news"):
        inform_once(message)
    monkeypatch.setenv("LOCAL_RANK", "1")
    inform_once("third news")
    assert capsys.readouterr().err == "first news\nother news\n"


def test_nothing_is_printed_but_by_way_of_this_console() -> None:
    """One place escapes; a console that is made elsewhere would not."""
    package = Path(messages.__file__).parents[1]
    made = {path.name for path in package.rglob("*.py") if re.search(r"(?<![\w.])Console\(", path.read_text())}
    assert made == set()


def test_one_is_counted_as_one() -> None:
    found = [counted(number, "file is", "files are") for number in (0, 1, 2000)]
    assert found == ["0 files are", "1 file is", "2,000 files are"]
