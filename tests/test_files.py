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


def test_a_digest_is_of_the_content_alone(tmp_path: Path) -> None:
    for name, text in (("a", "same"), ("b", "same"), ("c", "other")):
        (tmp_path / name).write_text(text)
    one, same, other = (files.digest_of(tmp_path / name) for name in "abc")
    assert one == same != other
