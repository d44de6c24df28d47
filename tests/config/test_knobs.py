from pathlib import Path

import pytest
from omegaconf import OmegaConf

from smoothpl.config import knobs as module
from smoothpl.config.knobs import TrainConfig, conf_dir
from tests.support.composing import composed


def test_the_schema_names_every_top_level_key() -> None:
    assert set(composed()) == set(TrainConfig.__dataclass_fields__)


def test_defaults_live_in_yaml() -> None:
    schema = OmegaConf.structured(TrainConfig)
    assert all(OmegaConf.is_missing(schema, name) or schema[name] is None for name in schema)


def test_conf_is_found_beside_the_package_and_inside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (conf_dir() / "train.yaml").is_file()
    monkeypatch.setattr(module, "__file__", str(tmp_path / "smoothpl" / "config" / "knobs.py"))
    assert conf_dir() == tmp_path / "conf"
    (tmp_path / "smoothpl" / "conf").mkdir(parents=True)
    assert conf_dir() == tmp_path / "smoothpl" / "conf"
