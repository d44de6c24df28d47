from pathlib import Path

import pytest

from smoothpl import files


def test_a_text_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    files.write_text(path, "old")
    files.write_text(path, "new")
    assert path.read_text() == "new"

    def no_space(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        files.write_text(path, "newer")
    assert path.read_text() == "new"
