from dataclasses import fields

import pytest
from omegaconf import MISSING

from smoothpl.config.describe import Knob, describe_groups, describe_knobs, groups, knobs, options
from smoothpl.config.knobs import TrainConfig, conf_dir
from tests.support.composing import composed


def test_the_yaml_shows_every_knob_in_the_order_of_the_schema() -> None:
    assert [knob.name for knob in knobs()] == [each.name for each in fields(TrainConfig) if each.default == MISSING]


@pytest.mark.parametrize("knob", knobs(), ids=lambda knob: knob.name)
def test_every_knob_has_a_sentence_and_a_section(knob: Knob) -> None:
    assert knob.section
    assert len(knob.meaning.split()) >= 2, f"conf/train.yaml does not say what {knob.name} is"
    assert knob.meaning.endswith((".", "]."))


def test_help_prints_the_sentences_of_the_yaml_with_the_values_in_force() -> None:
    text = describe_knobs(composed("threshold=0.77", "method=fixmatch"))
    flat = " ".join(text.split())
    for knob in knobs():
        assert knob.meaning.replace("- ", "-") in flat.replace("- ", "-")
    for shown in ("threshold=0.77", "method=fixmatch", "resume=null", "compile=false", "labels_before=[]"):
        assert f"    {shown}\n" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_a_knob_without_a_value_says_so() -> None:
    config = composed()
    config.threshold = MISSING
    assert "    threshold=???\n" in describe_knobs(config)


def test_every_group_is_listed_with_its_options() -> None:
    text = " ".join(describe_groups().split())
    found = {path.name for path in conf_dir().iterdir() if path.is_dir() and any(path.glob("*.yaml"))}
    assert {*groups()} == found
    for name in groups():
        assert f"{name}: {', '.join(options(name))}" in text
