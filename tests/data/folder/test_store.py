import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from filelock import FileLock
from PIL import Image

from smoothpl.data.folder import store
from smoothpl.errors import ConfigError
from smoothpl.io import checksums
from smoothpl.io.checksums import compute_crc
from tests.support.own import decode, save


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "smoothpl" / "decoded" / "8-2"


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

    monkeypatch.setattr(store, "decode_with_remarks", refuse)
    with pytest.raises(ConfigError, match=r"secret\.png cannot be read \(Permission denied\); correct its permissions"):
        decode(digits(tmp_path, 0))


def test_a_damaged_store_of_other_images_is_passed_over(tmp_path: Path, cache: Path) -> None:
    decode(digits(tmp_path, 0))
    (path,) = cache.glob("*.npy")
    path.write_bytes(b"x")
    (cache / "noteless.npy").write_bytes(b"x")
    assert (decode(digits(tmp_path, 0, 1)).row >= 0).all()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def spoil_a_pixel(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def swap(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"(2, 3, 8, 8)", b"(2, 3, 4, 4)"))


@pytest.mark.parametrize(
    ("kind", "spoil"),
    [
        *(("*.npy", each) for each in (cut, empty, spoil_a_pixel, swap)),
        ("*.json", cut),
        ("*.json", empty),
        ("*.json", lambda path: path.write_text("{")),
        ("*.json", lambda path: path.write_text("[1]")),
        ("*.json", lambda path: path.write_bytes(path.read_bytes().replace(b'"order": ["', b'"order": ["0', 1))),
    ],
)
def test_a_damaged_store_is_made_again_and_that_is_said_once(
    kind: str, spoil: Callable[[Path], object], tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = digits(tmp_path, 0, 1)
    found = decode(paths)
    before = found.images[found.row].clone()
    (path,) = cache.glob(kind)
    spoil(path)
    again = decode(paths)
    assert torch.equal(again.images[again.row], before)
    said = capsys.readouterr().err
    assert ".npy' is damaged (" in said
    assert said.endswith(") and is made again.\n")
    decode(paths)
    assert capsys.readouterr().err == ""
    assert len(list(cache.glob("*.npy"))) == len(list(cache.glob("*.json"))) == 1


def test_pixels_are_summed_up_once_and_again_when_their_file_has_changed(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = digits(tmp_path, 0, 1)
    decode(paths)
    summed: list[Path] = []

    def count(path: Path) -> int:
        summed.append(path)
        return compute_crc(path)

    monkeypatch.setattr(checksums, "compute_crc", count)
    decode(paths)
    assert summed == []
    (path,) = cache.glob("*.npy")
    os.utime(path, ns=(1, 1))
    decode(paths)
    decode(paths)
    assert summed == [path]


def test_nobody_else_may_look_into_the_cache(tmp_path: Path, cache: Path) -> None:
    before = os.umask(0)
    try:
        decode(digits(tmp_path, 0, 1))
    finally:
        os.umask(before)
    places = [cache.parent.parent, *cache.parent.parent.rglob("*")]
    assert len(places) > 6
    for place in places:
        assert place.stat().st_mode & 0o777 == (0o700 if place.is_dir() else 0o600), place


def test_a_draft_never_follows_a_link(tmp_path: Path, cache: Path) -> None:
    paths = digits(tmp_path, 0, 1)
    decode(paths)
    (path,) = cache.glob("*.npy")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path.unlink()
    path.with_suffix(".draft").symlink_to(victim)
    assert (decode(paths).row >= 0).all()
    assert victim.read_text() == "precious"


def test_what_was_decoded_in_an_earlier_way_is_removed(tmp_path: Path, cache: Path) -> None:
    older = cache.with_name("8-1")
    other = cache.with_name("16-1")
    for folder in (older, other):
        folder.mkdir(parents=True)
        (folder / "x.npy").write_text("x")
    decode(digits(tmp_path, 0))
    assert (older.exists(), other.exists()) == (False, True)


def test_remarks_and_reasons_are_kept_by_content_also_when_images_are_added(tmp_path: Path) -> None:
    dim, bad = tmp_path / "dim.tiff", tmp_path / "bad.png"
    Image.fromarray(np.array([[0, 4095]], np.uint16)).save(dim)
    bad.write_text("x")
    for paths in ([dim, bad], [dim, bad], [dim, bad, *digits(tmp_path, 0, 1)]):
        found = decode(paths)
        assert found.remarks == {"as 12 bits": {found.digests[0]}}
        assert found.bad == {found.digests[1]: "cannot identify image file"}
