import errno
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock

from smoothpl.data.folder import store
from smoothpl.errors import ConfigError
from tests.support.own import decode, save


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "smoothpl" / "decoded" / "8-1"


def digits(folder: Path, *numbers: int) -> list[Path]:
    return [save(folder / f"{number}.png", number) for number in numbers]


def test_of_images_that_are_added_only_these_are_decoded_and_one_store_is_left(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = decode(digits(tmp_path, 0, 2, 4))
    bad = tmp_path / "bad.png"
    bad.write_text("x")
    decoded: list[str] = []
    fill = store.fill

    def fill_and_tell(*args: Any) -> Any:
        decoded.extend(path.name for _, path in args[1])
        return fill(*args)

    monkeypatch.setattr(store, "fill", fill_and_tell)
    more = decode([*digits(tmp_path, 0, 1, 2, 3, 4), bad])
    assert sorted(decoded) == ["1.png", "3.png", "bad.png"]
    assert more.row[-1] == -1
    assert torch.equal(more.images[more.row[[0, 2, 4]]], some.images[some.row])
    assert len(list(cache.glob("*.npy"))) == len(list(cache.glob("*.json"))) == 1
    assert some.images.sum() > 0  # whoever has the old one open keeps it
    decoded.clear()
    fewer = decode(digits(tmp_path, 1, 4))
    assert decoded == []
    assert torch.equal(fewer.images[fewer.row], more.images[more.row[[1, 4]]])
    assert len(list(cache.glob("*.npy"))) == 2
    again = decode([*digits(tmp_path, 0, 1, 2, 3, 4, 5), bad])
    assert sorted(decoded) == ["5.png", "bad.png"]
    assert again.row[-1] == -1


def test_a_store_that_somebody_is_about_to_open_stays(tmp_path: Path, cache: Path) -> None:
    decode(digits(tmp_path, 0))
    (lock,) = cache.glob("*.lock")
    with FileLock(lock):
        decode(digits(tmp_path, 0, 1))
    assert len(list(cache.glob("*.npy"))) == 2


def test_a_full_disk_is_reported_before_anything_is_decoded(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr(store, "fill", None)
    with pytest.raises(ConfigError, match="No space left on device; decoded images are kept there, 0 MB for these"):
        decode(digits(tmp_path, 0))
    assert list(cache.glob("*.draft")) == []


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "secret.png")

    monkeypatch.setattr(store, "decode_safely", refuse)
    with pytest.raises(ConfigError, match=r"secret\.png cannot be read \(Permission denied\); correct its permissions"):
        decode(digits(tmp_path, 0))


def test_a_damaged_store_of_other_images_is_passed_over(tmp_path: Path, cache: Path) -> None:
    decode(digits(tmp_path, 0))
    (path,) = cache.glob("*.npy")
    path.write_bytes(b"x")
    (cache / "noteless.npy").write_bytes(b"x")
    assert (decode(digits(tmp_path, 0, 1)).row >= 0).all()
