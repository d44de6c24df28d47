import pytest

from smoothpl.cli.messages import first_few, inform, say


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
