import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from smoothpl.data.folder import decoded, store
from smoothpl.data.folder.decoded import Rows
from smoothpl.errors import ConfigError
from tests.support.own import decode, digests, picture, save


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_images_of_any_size_and_kind_become_rows_of_one_size(tmp_path: Path) -> None:
    grey = save(tmp_path / "a.png", 0)
    wide = tmp_path / "b.jpg"
    Image.fromarray(np.full((20, 40, 3), 200, np.uint8)).save(wide)
    found = decode([grey, wide])
    assert (found.images.shape, found.images.dtype) == ((2, 3, 8, 8), torch.uint8)
    assert torch.equal(found.images[found.row[0]], torch.from_numpy(np.array(picture(0))).expand(3, 8, 8))
    assert (found.images[found.row[1]].float() - 200).abs().max() <= 2


def test_the_same_content_is_decoded_once_wherever_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [save(tmp_path / name, number) for name, number in (("a.png", 0), ("b.png", 1), ("copy.png", 0))]
    found = decode(paths)
    assert len(found.images) == 2
    assert found.row[0] == found.row[2] != found.row[1]
    moved = [path.rename(tmp_path / f"moved_{path.name}") for path in paths]
    monkeypatch.setattr(store, "fill", None)  # nothing to do any more
    again = decode(moved)
    assert torch.equal(again.images, found.images)
    assert torch.equal(again.row, found.row)


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow's, of what is left of EXIF
def test_a_file_that_is_not_an_image_has_no_row(tmp_path: Path) -> None:
    (tmp_path / "bad.png").write_text("not an image")
    (tmp_path / "empty.jpg").touch()
    paths = [tmp_path / "bad.png", save(tmp_path / "good.png", 0), tmp_path / "empty.jpg"]
    for suffix in ("png", "webp", "bmp", "gif", "tiff", "jpg"):
        whole = save(tmp_path / f"whole.{suffix}", 3).read_bytes()
        for share in (10, 20, 50, 90):
            paths.append(tmp_path / f"cut_{share}.{suffix}")
            paths[-1].write_bytes(whole[: max(1, len(whole) * share // 100)])
    (tmp_path / "script.jpg").write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n")
    paths.append(tmp_path / "script.jpg")
    rows = decode(paths).row.tolist()
    assert [row >= 0 for row in rows[:3]] == [False, True, False]
    assert rows[-1] < 0
    assert sum(row >= 0 for row in rows) <= 8  # some decoders make do with most of a file


def test_digests_are_remembered_until_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path / "a.png", 0)
    before = digests([path])
    with monkeypatch.context() as patch:
        patch.setattr(decoded, "digests_of", None)
        assert digests([path]) == before
    save(path, 1)
    os.utime(path, ns=(1, 1))
    assert digests([path]) != before


def test_two_that_start_at_once_decode_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [save(tmp_path / f"{number}.png", number) for number in range(20)]
    filled = []
    fill = store.fill

    def fill_and_tell(*args: Any) -> Any:
        filled.append(1)
        return fill(*args)

    monkeypatch.setattr(store, "fill", fill_and_tell)
    threads = [threading.Thread(target=decode, args=(paths,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(filled) == 1


def test_one_that_is_cut_short_leaves_nothing_that_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [save(tmp_path / f"{number}.png", number) for number in range(4)]

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "decoded")

    with monkeypatch.context() as patch:
        patch.setattr(store, "put", full)
        with pytest.raises(ConfigError, match="No space left on device; decoded images are kept there"):
            decode(paths)
    assert (decode(paths).row >= 0).all()


def test_a_cache_that_is_a_file_does_not_ask_for_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [save(tmp_path / "0.png", 0)]
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(
        ConfigError, match=r"for these: name another place in the environment variable XDG_CACHE_HOME, a"
    ):
        decode(paths)


def test_rows_are_read_in_an_order_of_their_own(tmp_path: Path) -> None:
    found = decode([save(tmp_path / f"{number}.png", number) for number in range(3)])
    rows = Rows(found.images, found.row[[2, 0]], torch.tensor([7, -1]))
    (images,) = rows.read(torch.tensor([1, 0, 1]), None, [])
    expected = [torch.from_numpy(np.array(picture(number))).expand(3, 8, 8) for number in (0, 2, 0)]
    assert torch.equal(images, torch.stack(expected))
    assert (len(rows), rows.same_size) == (2, True)
