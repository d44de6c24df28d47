from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

import smoothpl.backbones
from smoothpl.errors import ConfigError
from smoothpl.inference.trust import BACKBONES, check_trusted
from tests.support.composing import composed, options

RUN = Path("run")


@pytest.mark.parametrize("name", [name for name in options("backbone") if name != "none"])
def test_every_backbone_of_ours_is_trusted(name: str) -> None:
    for part in composed(f"backbone={name}").backbone.encoders.values():
        check_trusted(part, "backbone", RUN, trust=False)


@pytest.mark.parametrize(
    "part",
    [
        {"_target_": "os.system", "command": "true"},
        {"_target_": "smoothpl.backbones.Encoder"},
        {"_target_": "smoothpl.nets.WideResNet"},
        {"_target_": "smoothpl.backbones.of_timm", "name": {"_target_": "os.getcwd"}},
        {"_target_": "smoothpl.backbones.of_timm", "mean": [[{"_target_": "os.getcwd"}]]},
        {},
    ],
)
def test_a_stranger_names_no_other_code(part: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"run=run names a backbone that is not smoothpl's own code .* trust=true"):
        check_trusted(OmegaConf.create(part), "backbone", RUN, trust=False)
    check_trusted(OmegaConf.create(part), "backbone", RUN, trust=True)


def test_lists_of_numbers_are_plain() -> None:
    part = {"_target_": "smoothpl.backbones.of_timm", "mean": [0.5, 0.5, 0.5]}
    check_trusted(OmegaConf.create(part), "backbone", RUN, trust=False)


def test_only_what_makes_backbones_is_listed() -> None:
    assert {name.rpartition(".")[2] for name in BACKBONES} == {*smoothpl.backbones.__all__} - {
        "Encoder",
        "Engine",
        "engine_for",
    }
