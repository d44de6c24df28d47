import os
from pathlib import Path

import pytest

from smoothpl.io import atomic


def test_a_text_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    atomic.write_text(path, "old")
    atomic.write_text(path, "new")
    assert path.read_text() == "new"

    def no_space(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        atomic.write_text(path, "newer")
    assert path.read_text() == "new"
