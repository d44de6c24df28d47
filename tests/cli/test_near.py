import pytest
from omegaconf import DictConfig, OmegaConf

from smoothpl.cli.near import ELSEWHERE, unknown_key, unknown_option
from smoothpl.config.describe import groups
from tests.support.composing import OWN, composed


def looked_for_in(key: str) -> DictConfig:
    owner, config = key.rpartition(".")[0], composed()
    node = OmegaConf.select(config, owner) if owner else config
    assert isinstance(node, DictConfig)
    return node


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ("treshold", "did you mean threshold?"),
        ("lr", "did you mean optim.learning_rate?"),
        ("optim.lr", "did you mean optim.learning_rate?"),
        ("precision", "did you mean trainer.precision?"),
        ("momentum", "did you mean optim.momentum?"),
        ("epochs", "did you mean max_steps?"),
        ("shape.nu", "known are mu."),
        ("target.nu", "this target has none."),
    ],
)
def test_a_key_that_does_not_exist_is_answered_with_the_one_that_was_meant(key: str, advice: str) -> None:
    assert unknown_key(key, looked_for_in(key)) == f"{key} is not a knob: {advice}"


def test_what_other_programs_call_it_is_answered_with_a_key_that_exists() -> None:
    config = composed("benchmark=folder", *OWN, "net=torchvision/resnet18")
    for key in {*ELSEWHERE.values()} - {"hydra.run.dir"} - {*groups()}:
        OmegaConf.select(config, key, throw_on_missing=True)
        owner, _, name = key.rpartition(".")
        assert name in (OmegaConf.select(config, owner) if owner else config)


@pytest.mark.parametrize(
    ("file", "options", "advice"),
    [
        ("net/resnet18", ["wrn_10_1", "torchvision"], "did you mean net=torchvision/resnet18?"),
        ("method/fixmach", ["smooth", "fixmatch"], "did you mean method=fixmatch?"),
        ("shape/cubic", ["step", "linear"], "shape is one of linear, step."),
    ],
)
def test_an_option_that_does_not_exist_is_answered_with_the_nearest(file: str, options: list[str], advice: str) -> None:
    assert unknown_option(file, options) == f"{file.replace('/', '=')} is not an option; {advice}"
