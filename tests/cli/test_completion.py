"""What a script knows; tests/commands/test_completion.py tries the scripts in their shells."""

import pytest

from smoothpl.cli.commands import command_names
from smoothpl.cli.completion import SHELLS, has_places, known_values, run_keys, script, words_of
from smoothpl.config.describe import groups, knobs, options


def test_every_knob_and_every_group_is_a_key() -> None:
    assert {*run_keys()} == {f"{name}=" for name in (*groups(), *(knob.name for knob in knobs()))}


@pytest.mark.parametrize("group", groups())
def test_a_group_has_its_options_for_values(group: str) -> None:
    assert known_values()[group] == options(group)


def test_a_switch_is_true_or_false_and_an_option_has_its_choices() -> None:
    values = known_values()
    assert values["compile"] == values["trust"] == ["true", "false"]
    assert values["format"] == ["onnx", "torchscript", "torch_export", "safetensors"]
    assert "threshold" not in values


def test_a_command_has_its_own_words_and_knobs_where_it_takes_them() -> None:
    assert {"--help", "run=", "images=", "top="} <= {*words_of("predict")}
    assert "threshold=" not in words_of("predict")
    assert {"out=", "threshold="} <= {*words_of("sheet")}
    assert {"--multirun", "method="} <= {*words_of("train")}
    assert "paper" in words_of("report")
    assert (has_places("report"), has_places("predict"), has_places("train")) == (True, False, False)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_names_every_command_and_leaves_no_table_empty(shell: str) -> None:
    text = script(shell)
    for name in command_names():
        assert name in text
    for table in ("COMMANDS", "WORDS", "VALUES", "PLACES"):
        assert f"# {table}" not in text
