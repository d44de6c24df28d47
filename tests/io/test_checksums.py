import hashlib
import os
import zlib
from pathlib import Path

import pytest

from smoothpl.errors import ConfigError
from smoothpl.io.checksums import crc_of, verify


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "smoothpl"


def md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes()).hexdigest()


def test_a_published_file_is_read_once_and_remembered(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "data"
    file.write_bytes(b"images")
    expected = md5(file)
    verify(file, expected)
    assert len(list((cache / "verified").iterdir())) == 1

    def read_again(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(hashlib, "file_digest", read_again)
    verify(file, expected)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "data"]  # nothing beside the data


@pytest.mark.usefixtures("cache")
def test_a_file_that_changed_is_read_again_and_refused(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(b"images")
    expected = md5(file)
    verify(file, expected)
    file.write_bytes(b"imagez")
    os.utime(file, ns=(1, 1))
    with pytest.raises(ConfigError, match=f"data is damaged.*not {expected}"):
        verify(file, expected)


def test_a_cache_that_cannot_be_written_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "data"
    file.write_bytes(b"images")
    verify(file, md5(file))
    verify(file, md5(file))
    with pytest.raises(ConfigError, match="data is damaged"):
        verify(file, "0")
    assert (tmp_path / "cache").is_file()


@pytest.mark.usefixtures("cache")
def test_a_checksum_is_that_of_the_whole_file_as_it_is_now(tmp_path: Path) -> None:
    file = tmp_path / "data"
    for content in (b"", b"x" * (2**20 + 1), b"y" * (2**20 + 1)):
        file.write_bytes(content)
        os.utime(file, ns=(len(content), content.count(b"x")))
        assert crc_of(file) == crc_of(file) == zlib.crc32(content)
