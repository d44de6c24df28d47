from pathlib import Path

import pytest

from smoothpl.commands.features import main
from smoothpl.errors import ConfigError
from tests.support.backbones import TINY_BACKBONE


def test_features_are_made_before_training_needs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    main(TINY_BACKBONE)
    assert "features: 1,297 images, 4 vectors of each; 500 test images." in capsys.readouterr().out
    assert len(list((tmp_path / "smoothpl" / "features").glob("*/vectors.f16"))) == 4
    main(TINY_BACKBONE)
    assert capsys.readouterr().err == ""


def test_without_a_backbone_there_are_none() -> None:
    with pytest.raises(ConfigError, match=r"backbone=none: images have features only with a backbone; add"):
        main([])
