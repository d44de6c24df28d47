from pathlib import Path

import pytest
from PIL import Image

from smoothpl.commands import smoothness
from smoothpl.errors import ConfigError


def test_the_picture_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "figure.png"
    smoothness.main(["threshold=0.8", f"out={out}"])
    assert f"picture: {out}" in capsys.readouterr().out
    with Image.open(out) as picture:
        assert picture.size == (1320, 408)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("threshold=2", "must lie strictly between"),
        ("threshold=x", "must lie"),
        ("tau=1", "tau=1 is not an option of this command; its options are threshold=, out="),
    ],
)
def test_a_mistake_is_one_message(argument: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        smoothness.main([argument])
