import errno
import os
from pathlib import Path

import pytest

from smoothpl.io.cache import cache_dir, elsewhere, recall, state_of


def test_the_cache_is_where_the_system_keeps_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_dir() == Path.home() / ".cache" / "smoothpl"


def test_an_answer_is_recalled_until_a_file_or_the_question_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    paths = [tmp_path / "a", tmp_path / "nowhere"]
    paths[0].write_text("x")
    paths[1].symlink_to(tmp_path / "gone")
    answers = iter(range(10))
    states = [state_of(path) for path in paths]
    asked = [recall("kind", states, lambda: next(answers), *more) for more in ((), (), ("md5",), ("md5",))]
    assert asked == [0, 0, 1, 1]
    os.utime(paths[0], ns=(1, 1))
    assert recall("kind", [state_of(path) for path in paths], lambda: next(answers)) == 2


def test_the_state_of_a_file_is_the_same_by_every_name_and_changes_with_its_content(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("x")
    link.symlink_to(file)
    before = state_of(file)
    assert state_of(link) == before
    file.rename(tmp_path / "renamed")
    assert state_of(tmp_path / "renamed")[:4] == before[:4]  # a new name is a change to the file system, the fifth
    (tmp_path / "renamed").write_text("longer")
    assert state_of(tmp_path / "renamed") != before
    assert state_of(link) == state_of(link)  # which leads nowhere now
    with pytest.raises(FileNotFoundError):
        state_of(file)


def test_an_answer_that_was_not_found_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def fail() -> None:
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        recall("kind", [(1, 2)], fail)
    assert recall("kind", [(1, 2)], lambda: 7) == 7
    assert recall("other kind", [(1, 2)], lambda: 8) == 8
    assert recall("kind", [(2, 1)], lambda: 9) == 9


@pytest.mark.parametrize(
    "damage", ["", "{", "[1]", "7", "null", '{"checksum": 1, "answer": 7}', "[" * 100_000, "\ud800"]
)
def test_a_damaged_note_is_as_good_as_none(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert recall("kind", [(1, 2)], lambda: 7) == 7
    (note,) = (cache_dir() / "kind").iterdir()
    note.write_text(damage, errors="surrogatepass")
    assert recall("kind", [(1, 2)], lambda: 8) == 8
    assert recall("kind", [(1, 2)], lambda: 9) == 8


def test_nobody_else_may_look_into_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a" / "b"))
    recall("kind", [(1, 2)], lambda: 7)
    places = [cache_dir(), *cache_dir().rglob("*")]
    assert [place.stat().st_mode & 0o777 for place in places] == [0o700, 0o700, 0o600]


def test_a_cache_that_cannot_be_written_to_is_no_reason_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert recall("kind", [(1, 2)], lambda: 7) == 7


def test_room_is_asked_for_only_where_a_disk_is_full() -> None:
    assert elsewhere(OSError(errno.ENOSPC, "")).startswith("make room, or name another place")
    for other in (errno.EEXIST, errno.ENOTDIR, errno.EACCES):
        assert elsewhere(OSError(other, "")).startswith("name another place")
