import pytest

from smoothpl.cli.messages import remark, some


def test_a_remark_is_one_line_and_not_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    remark("[bold] " + "x" * 200)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "[bold] " + "x" * 200 + "\n"


@pytest.mark.parametrize(("number", "text"), [(0, ""), (2, "0, 1"), (5, "0, 1, 2, 3, 4"), (6, "0, 1, 2, 3, 4, ...")])
def test_some_names_stand_for_many(number: int, text: str) -> None:
    assert some([str(each) for each in range(number)]) == text
