import sys
from pathlib import Path

import pytest
import torch
from PIL import Image

from smoothpl import smoothness
from smoothpl.errors import ConfigError


@pytest.mark.parametrize("smooth", [False, True])
def test_the_derivative_that_is_drawn_is_that_of_the_loss_that_is_drawn(smooth: bool) -> None:
    confidence = torch.linspace(0.4, 1, 2001, dtype=torch.float64)
    loss, slope = smoothness.losses(confidence, 0.75, smooth)
    by_differences = loss.diff() / confidence.diff()
    between = (slope[1:] + slope[:-1]) / 2
    away = (confidence[1:] - 0.75).abs() > 0.001
    torch.testing.assert_close(by_differences[away], between[away], rtol=1e-3, atol=1e-3)
    assert (slope.diff().abs().max() > 1) == (not smooth)  # the whole point


def test_the_picture_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "figure.png"
    monkeypatch.setattr(sys, "argv", ["smoothness", "threshold=0.8", f"out={out}"])
    smoothness.main()
    assert f"picture: {out}" in capsys.readouterr().out
    with Image.open(out) as picture:
        assert picture.size == (1320, 408)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [("threshold=2", "must lie strictly between"), ("threshold=x", "must lie"), ("tau=1", "no eff")],
)
def test_what_cannot_be_drawn_is_said(monkeypatch: pytest.MonkeyPatch, words: str, complaint: str) -> None:
    monkeypatch.setattr(sys, "argv", ["smoothness", words])
    with pytest.raises(ConfigError, match=complaint):
        smoothness.main()
