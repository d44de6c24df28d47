from io import StringIO

from smoothpl.io.escapes import Escaping, printable


def test_what_a_terminal_would_obey_is_shown_as_python_writes_it() -> None:
    hostile = "\x1b]0;title\x07\x1b[2J\rcat\x9b31m\u202egnp\udce4\x7f"
    assert printable(hostile) == r"\x1b]0;title\x07\x1b[2J\rcat\x9b31m\u202egnp\udce4\x7f"


def test_other_texts_stay_as_they_are() -> None:
    assert printable("ä\t[b]\n😀 \\x1b") == "ä\t[b]\n😀 \\x1b"


def test_a_stream_for_a_terminal_escapes_what_is_written_to_it() -> None:
    stream = StringIO()
    Escaping(stream).write("a\x1b[2J,b\n")
    assert stream.getvalue() == "a\\x1b[2J,b\n"
