from pathlib import Path

import pytest

from smoothpl.cli.help import asks_for_help
from smoothpl.config.describe import describe_groups, describe_knobs
from smoothpl.config.knobs import TrainConfig
from tests.composing import composed, options
from tests.processes import Process


def test_every_knob_has_a_meaning_and_its_value() -> None:
    text = describe_knobs(composed("threshold=0.77", "method=fixmatch"))
    for name, field in TrainConfig.__dataclass_fields__.items():
        if "meaning" in field.metadata:
            (line,) = [line for line in text.splitlines() if line.split()[0] == name]
            assert line.endswith(field.metadata["meaning"])
            assert len(line) <= 80
    assert "0.77" in text
    assert "fixmatch" in text


def test_every_group_has_its_options() -> None:
    text = " ".join(describe_groups().split())
    for name in (*TrainConfig.__dataclass_fields__, "experiment"):
        if options(name):
            assert f"{name}: {', '.join(options(name))}" in text


@pytest.mark.parametrize(
    ("arguments", "is_so"),
    [("--help", True), ("-h fold=1", True), ("--help --config-dir x", False), ("fold=1", False), ("", False)],
)
def test_help_is_asked_for_by_its_flag_alone(arguments: str, is_so: bool) -> None:
    assert asks_for_help(arguments.split()) == is_so


def test_what_is_shown_is_what_hydra_would_show(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    ours, hydras = (
        Process("smoothpl.train", "threshold=0.5", "--help", *flags, cwd=tmp_path).wait()
        for flags in ((), ("--config-dir", "mine"))
    )
    assert (ours.returncode, ours.stderr) == (0, "")
    assert "threshold               0.5" in ours.stdout
    assert ours.stdout == hydras.stdout
