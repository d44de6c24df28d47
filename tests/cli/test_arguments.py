from pathlib import Path

import pytest
from matplotlib.backend_bases import FigureCanvasBase

from smoothpl.cli.arguments import PICTURES, Arguments, read_arguments, read_options
from smoothpl.errors import ConfigError


def test_the_options_of_a_command_are_kept_apart_from_the_rest() -> None:
    typed = read_arguments(["fold=3", "out=a=b.png", "threshold=0.9", "outputs"], "usage", "out")
    assert typed == Arguments({"out": "a=b.png"}, ["fold=3", "threshold=0.9", "outputs"])


def test_a_folder_may_be_called_like_an_option() -> None:
    assert read_arguments(["out"], "usage", "out").rest == ["out"]


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_prints_the_usage_and_ends(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_arguments(["fold=3", flag], "smoothpl look [out=...]")
    assert ended.value.code == 0
    assert capsys.readouterr().out == "smoothpl look [out=...]\n"


def test_a_command_with_options_only_takes_nothing_else_and_says_what_it_takes() -> None:
    assert read_options(["run=a=b", "top=3"], "usage", "run", "top").options == {"run": "a=b", "top": "3"}
    with pytest.raises(ConfigError, match=r"top=3 is not an option of this command; its options are run= \(--help"):
        read_options(["run=a", "top=3"], "usage", "run")
    with pytest.raises(ConfigError, match=r"its options are none"):
        read_options(["top=3"], "usage")


def test_an_option_that_is_needed_is_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"run=\.\.\. and images=\.\.\. must be given"):
        read_options(["top=3"], "usage", "run", "images", "top", needed=("run", "images"))


def test_a_flag_is_true_or_false() -> None:
    assert (Arguments({"trust": "True"}, []).flag("trust"), Arguments({}, []).flag("trust")) == (True, False)
    with pytest.raises(ConfigError, match="trust=yes must be true or false"):
        Arguments({"trust": "yes"}, []).flag("trust")


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", ""])
def test_a_number_is_positive_and_whole(text: str) -> None:
    assert (Arguments({"n": "7"}, []).number("n", 20), Arguments({}, []).number("n", 20)) == (7, 20)
    with pytest.raises(ConfigError, match=f"n={text} must be a positive whole number"):
        Arguments({"n": text}, []).number("n", 20)


def test_a_file_is_written_into_a_folder_that_is_there(tmp_path: Path) -> None:
    assert Arguments({"out": str(tmp_path / "a.csv")}, []).file("out", "b.csv") == tmp_path / "a.csv"
    assert Arguments({}, []).file("out", "b.csv") == Path("b.csv")
    with pytest.raises(ConfigError, match=r"out=.*nowhere/a\.csv: there is no folder .*nowhere; make it"):
        Arguments({"out": str(tmp_path / "nowhere" / "a.csv")}, []).file("out", "b.csv")
    with pytest.raises(ConfigError, match=r"is a folder; name a file"):
        Arguments({"out": str(tmp_path)}, []).file("out", "b.csv")


def test_a_picture_is_of_a_kind_that_can_be_drawn() -> None:
    assert Arguments({"out": "a.SVG"}, []).picture("out", "b.png") == Path("a.SVG")
    assert Arguments({"out": "a"}, []).picture("out", "b.png") == Path("a.png")
    with pytest.raises(ConfigError, match=r"out=s\.txt must be a picture, and end with one of \.png"):
        Arguments({"out": "s.txt"}, []).picture("out", "b.png")
    assert {kind.removeprefix(".") for kind in PICTURES} <= {*FigureCanvasBase.get_supported_filetypes()}
