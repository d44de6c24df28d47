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


def test_a_draft_never_follows_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / ".file.draft").symlink_to(victim)
    atomic.write_text(tmp_path / "file", "new")
    assert (victim.read_text(), (tmp_path / "file").read_text()) == ("precious", "new")
    assert not (tmp_path / "file").is_symlink()


def test_a_link_that_is_put_there_meanwhile_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    unlink = Path.unlink

    def unlink_and_link(path: Path, missing_ok: bool) -> None:
        unlink(path, missing_ok)
        path.symlink_to(victim)

    monkeypatch.setattr(Path, "unlink", unlink_and_link)
    with pytest.raises(FileExistsError):
        atomic.create(tmp_path / "draft")
    assert victim.read_text() == "precious"


@pytest.mark.parametrize(("mode", "expected"), [(atomic.USUAL, 0o644), (atomic.PRIVATE, 0o600)])
def test_a_file_is_as_open_as_the_umask_has_it_unless_it_is_private(mode: int, expected: int, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        atomic.write_text(tmp_path / "file", "x", mode)
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == expected
