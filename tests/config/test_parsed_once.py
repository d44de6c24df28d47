"""What is parsed once composes as what is parsed every time."""

import os
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra._internal import defaults_list
from hydra._internal.core_plugins import file_config_source
from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from omegaconf import OmegaConf

from smoothpl.config import parsed_once
from smoothpl.config.compose import compose_config
from tests.support.composing import OWN

WORDS = [
    (),
    ("method=flexmatch", "shape=sqrt", "threshold=0.98"),
    ("benchmark=imagenet_10pct", "method=simmatch"),
    ("benchmark=folder", *OWN, "backbone=efficientnet_lite0"),
    ("data=cifar10", "experiment=threshold"),
    ("+callbacks.extra._target_=lightning.Callback", "~callbacks.progress", "fairness=none"),
]


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_it_composes_what_hydra_alone_composes(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (compose_config(words, with_hydra=True) for _ in range(2))
    monkeypatch.setattr(defaults_list, "_create_interpolation_map", parsed_once.known_choices)
    monkeypatch.setitem(SourcesRegistry.instance().types, "file", file_config_source.FileConfigSource)
    monkeypatch.setattr("smoothpl.config.resolvers.parse_once", lambda: None)
    alone = compose_config(words, with_hydra=True)
    assert OmegaConf.to_yaml(first) == OmegaConf.to_yaml(second) == OmegaConf.to_yaml(alone)
    assert list(first.hydra.runtime.choices) == list(alone.hydra.runtime.choices)


def searched(folder: Path, *words: str) -> list[str]:
    return [*words, f"hydra.searchpath=[file://{folder}]"]


@pytest.mark.parametrize(("words", "size"), [([], 10), (["net=large"], 28)])
def test_a_choice_may_follow_that_of_another_group(tmp_path: Path, words: list[str], size: int) -> None:
    files = {"net/small": "{}", "net/large": "{}", "size/of_small": "depth: 10", "size/of_large": "depth: 28"}
    for name, text in (files | {"main": "defaults: [{net: small}, {size: 'of_${net}'}, _self_]"}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.yaml").write_text(text)
    parsed_once.parse_once()
    with initialize_config_dir(str(tmp_path), version_base="1.3"):
        assert compose("main", words).size.depth == size


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "shape").mkdir()
    file = tmp_path / "shape" / "mine.yaml"
    for mu in (2, 3):
        file.write_text(f"_target_: smoothpl.pseudo.Power\nmu: {mu}\n")
        os.utime(file, ns=(mu, mu))
        assert compose_config(searched(tmp_path, "shape=mine")).shape.mu == mu
    file.unlink()
    with pytest.raises(HydraException, match="Could not find 'shape/mine'"):
        compose_config(searched(tmp_path, "shape=mine"))


def test_a_file_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    load = file_config_source.FileConfigSource.load_config

    def noted(self: file_config_source.FileConfigSource, config_path: str) -> object:
        read.append(config_path)
        return load(self, config_path)

    monkeypatch.setattr(file_config_source.FileConfigSource, "load_config", noted)
    parsed_once.parsed.cache_clear()
    for _ in range(2):
        compose_config(["method=darp"])
    assert "method/darp" in read
    assert len(read) == len(set(read))


def test_hydra_leaves_it_in_place_when_it_lists_its_plugins() -> None:
    parsed_once.parse_once()
    Plugins.instance()._initialize()
    assert SourcesRegistry.instance().resolve("file") is parsed_once.FileConfigSource
