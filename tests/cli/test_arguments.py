import pytest

from smoothpl.cli.arguments import Arguments, read_arguments, read_options
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
