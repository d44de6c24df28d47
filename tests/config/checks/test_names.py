import pytest

from smoothpl.config.checks import check
from smoothpl.errors import ConfigError
from tests.support.composing import composed

WRONG = {
    "shape=linear shape.mu=3": r"shape=linear is the power shape.mu=1.0, and shape.mu=3 was typed; use shape=power",
    "shape=square shape.mu=0.5": r"shape=square is the power shape.mu=2.0, and shape.mu=0.5 was typed",
    "logger=[csv,none]": r"logger=\[csv,none\]: none is for a run without curves",
    "logger=[none,csv]": r"logger=\[none,csv\]: none is for a run without curves",
}


@pytest.mark.parametrize("words", WRONG)
def test_an_option_is_what_its_name_says(words: str) -> None:
    with pytest.raises(ConfigError, match=WRONG[words]):
        check(composed(*words.split()), words.split())


@pytest.mark.parametrize(
    "words",
    ["shape=power shape.mu=3", "shape=linear shape.mu=1", "shape.mu=3", "logger=none", "logger=[none]", "logger=[csv]"],
)
def test_what_its_name_does_not_contradict_is_let_through(words: str) -> None:
    check(composed(*words.split()), words.split())


def test_a_run_that_was_started_so_can_be_resumed() -> None:
    words = ["shape=linear", "shape.mu=3", "resume=outputs/run"]
    check(composed(*words), words)
