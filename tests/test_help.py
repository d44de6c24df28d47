from smoothpl.config import TrainConfig
from smoothpl.help import describe_groups, describe_knobs
from tests.composing import composed, options


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
