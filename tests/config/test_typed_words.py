from pathlib import Path

import pytest

from smoothpl.config.describe import groups, options
from smoothpl.config.overrides import CommandLine, quoted, value_of
from smoothpl.config.typed_words import check_single, readable
from smoothpl.errors import ConfigError

WRONG = {
    ("T smooth",): "T smooth is not a setting; settings are key=value",
    ("T", "smooth"): "T is not a setting; settings are key=value",
    ("smooth",): "smooth is not a setting; did you mean method=smooth?",
    ("method",): "method is not a setting; give it a value: method=...",
    ("fold=1", "method", "=", "smooth"): "method = smooth: leave out the spaces around the equals sign: method=smooth",
    ("method = smooth",): "method = smooth: leave out the spaces around the equals sign: method=smooth",
    ("method=", "smooth"): "method= smooth: leave out the spaces",
    ("method", "=smooth"): "method =smooth: leave out the spaces",
    ("method=“smooth”",): "method=“smooth” has curly quotes; type straight ones, or none: method=smooth",
    ("method=smooth;",): "method=smooth; cannot be read (token recognition error at: ';'); if this is the value",
    ("~threshold",): "~threshold: every run has a threshold; give it another value, threshold=...",
    ("~callbacks",): "~callbacks: no run can do without callbacks; use another one",
    ("net=null",): "net=null: net is one of cosine, linear",
    ("fold=range(0)",): "fold=range(0) is an empty range: there would be nothing to run",
    ("--method=smooth",): "--method=smooth: settings are typed without dashes, as key=value: method=smooth",
    ("--threshold", "fold=1"): "--threshold: settings are typed without dashes, as key=value: threshold=...",
    ("--fast",): "--fast is not an option; --help lists what there is.",
}


@pytest.mark.parametrize("arguments", WRONG)
def test_a_word_that_nobody_can_understand_is_refused_in_one_line(arguments: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as refused:
        readable(CommandLine.parse(arguments))
    assert WRONG[arguments] in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "arguments",
    [
        ("-m", "fold=range(3)", "method=smooth,fixmatch"),
        ("--multi", "--config-dir", "mine", "-cjob", "shape=own"),
        ("~callbacks.purity", "~shape", "+a.b=1", "++data.flip=0.5"),
        ("logger=[csv,wandb]", "data.root='a = b'", "optim.nesterov=false", "x='y = z'"),
        ("data.labels=", "method= smooth"),
    ],
)
def test_what_hydra_understands_is_left_as_it_is(arguments: tuple[str, ...]) -> None:
    line = CommandLine.parse(arguments)
    assert readable(line) == line


@pytest.mark.parametrize("name", ["a,b", "fötö", "one's own", "x (2)", "a=b", "“best”"])
def test_a_folder_may_be_called_anything(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (word,) = readable(CommandLine.parse([f"data.root={tmp_path / name}"])).words
    assert value_of(word) == str(tmp_path / name)
    assert readable(CommandLine.parse([word])).words == (word,)


def test_several_folders_stay_several() -> None:
    line = CommandLine.parse(["data.root=here,there", f"resume={quoted('a,b')}"])
    assert readable(line) == line


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("fold=0,1", r"fold=0,1 is several values: give one, or add -m to run all of them\.$"),
        ("threshold=0,95", r"a decimal number has a point: threshold=0\.95\.$"),
        ("optim.learning_rate=0,03", r"a decimal number has a point: optim.learning_rate=0\.03\.$"),
    ],
)
def test_several_values_are_a_sweep_which_has_to_be_asked_for(word: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_single(CommandLine.parse([word]))
    check_single(CommandLine.parse(["-m", word]))


@pytest.mark.parametrize("group", [group for group in groups() if "none" in options(group)])
def test_null_is_another_word_for_none_where_a_group_has_it(group: str) -> None:
    line = readable(CommandLine.parse([f"{group}=null"]))
    assert line.words == (f"{group}=none",)
    assert readable(line) == line


def test_null_is_none_in_a_sweep_and_in_no_other_setting() -> None:
    line = readable(CommandLine.parse(["-m", "fairness=null,freematch", "threshold=null", "callbacks.purity=null"]))
    assert line.words == ("fairness=none,freematch", "threshold=null", "callbacks.purity=null")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["verdict=true"], ["verdict=tell"]),
        (["data=folder", "verdict=True"], ["data=folder", "verdict=choose"]),
        (["verdict=false"], ["verdict=none"]),
        (["-m", "verdict=true,false"], ["-m", "verdict=tell,none"]),
        (["verdict.action=choose"], ["verdict=choose"]),
        (["verdict=tell", "verdict.action=choose"], ["verdict=tell", "verdict.action=choose"]),
    ],
)
def test_whether_there_is_a_verdict_is_said_by_yes_and_no(typed: list[str], meant: list[str]) -> None:
    line = readable(CommandLine.parse(typed))
    assert line.arguments == meant
    assert readable(line) == line
