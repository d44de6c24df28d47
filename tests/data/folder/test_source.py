from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from smoothpl.data import Source, folder, given
from smoothpl.data.folder.scan import scan_folder
from smoothpl.data.source import HELD_OUT
from smoothpl.errors import ConfigError
from tests.support.own import numbers_of, save, two_digits


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def opened(root: Path, folds: int = 0, fold: int = 0, **more: object) -> Source:
    scan = scan_folder(str(root))
    digests = {"images_digest": scan.images_digest, "labels_digest": scan.labels_digest}
    values = digests | {"num_labels": len(scan.label), "size": 8} | more
    return folder(str(root), folds=folds, fold=fold, **values)  # type: ignore[arg-type]


def test_a_folder_with_a_test_set(tmp_path: Path) -> None:
    source = opened(two_digits(tmp_path / "own", labels=4, unlabeled=10, test=3))
    assert source.class_names == ("one", "zero")
    assert (len(source.train), len(source.test), source.tested_on) == (34, 6, "")
    assert torch.bincount(source.train.labels + 2).tolist() == [6, 20, 4, 4]
    assert sorted(source.test.labels.tolist()) == [0, 0, 0, 1, 1, 1]


def test_without_one_every_part_of_the_labels_tests_once_and_trains_otherwise(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "own", labels=12)
    sources = [opened(root, folds=3, fold=fold) for fold in range(3)]
    held = [len(source.test) for source in sources]
    assert sum(held) == 24
    for fold, source in enumerate(sources):
        assert (source.train.labels >= 0).sum() == 24 - held[fold]
        assert source.tested_on == f"labeled images held out, part {fold} of 3"
        for both in (True, False):
            labeled, unlabeled = given(source.train.labels, unlabeled_includes_labeled=both)
            assert len(unlabeled) == (48 - held[fold] if both else 24)
            rows = {*source.train.row[torch.cat([labeled, unlabeled])].tolist()}  # type: ignore[attr-defined]
            assert not rows & {*source.test.row.tolist()}  # type: ignore[attr-defined]


def test_no_renaming_changes_the_order_of_images(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "own", test=2)
    before = opened(root)
    for path in (root / "pool").iterdir():
        path.rename(root / path.name)
    after = opened(root)
    index = torch.arange(len(before.train))
    one, other = (source.train.read(index, None, [])[0] for source in (before, after))
    assert torch.equal(one, other)
    assert torch.equal(before.train.labels, after.train.labels)


def test_what_tests_does_not_train_in_any_copy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = two_digits(tmp_path / "own", labels=3, unlabeled=5, test=2)
    numbers = numbers_of(0)
    save(root / "labeled" / "zero" / "leak.png", numbers[8])  # a test image
    save(root / "pool" / "leak.png", numbers[9])
    save(root / "pool" / "twice.png", numbers[0])
    (root / "pool" / "bad.png").write_text("x")
    source = opened(root)
    assert (len(source.train), len(source.test), source.num_left_out) == (20, 4, 1)
    assert (source.train.labels != HELD_OUT).sum() == 16
    assert (source.train.labels >= 0).sum() == 6
    err = capsys.readouterr().err
    assert "1 of 24 files are not readable images and are skipped: 'pool/bad.png'" in err
    assert "3 of 24 images are copies of others and are used once: " in err
    assert "1 of 24 labeled images are test images, too, and are not trained on: 'labeled/zero/leak.png'" in err


def test_one_image_with_two_labels_is_refused(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "own", test=1)
    save(root / "labeled" / "one" / "zero.png", numbers_of(0)[0])
    with pytest.raises(ConfigError, match="are the same image, and labeled zero and one; remove one"):
        opened(root)


@pytest.mark.parametrize(
    ("test", "knobs", "message"),
    [
        (1, {"folds": 5}, "data.folds=5 has no effect: .* has test images"),
        (0, {"folds": 0}, "data.folds=0, but .* has no test images; hold out labeled ones: data.folds=5"),
        (0, {"folds": 3, "fold": 3}, "fold=3 must be below data.folds=3"),
        (0, {"folds": 10**9}, "holds out no labeled image .8 have labels."),
        (1, {"num_labels": 7}, "num_labels=7, but .* has 8 labels now"),
        (1, {"images_digest": "other"}, r"no longer holds the images of this run \(data\.images_digest=other\)"),
        (1, {"labels_digest": "other"}, r"no longer has the labels of this run \(data\.labels_digest=other\)"),
        (1, {"fold": 1}, "fold=1 has no effect: .* has test images"),
    ],
)
def test_settings_that_do_not_fit_the_folder_are_refused(
    tmp_path: Path, test: int, knobs: dict[str, object], message: str
) -> None:
    root = two_digits(tmp_path / "own", test=test)
    with pytest.raises(ConfigError, match=message):
        opened(root, **knobs)  # type: ignore[arg-type]


def test_labels_that_are_added_renumber_nothing(tmp_path: Path) -> None:
    """Also those that fall into the part that is held out."""
    root = two_digits(tmp_path / "own", labels=12)
    before = opened(root, folds=3, fold=1)
    for path in sorted((root / "pool").iterdir())[::2]:
        digit = "zero" if int(path.stem) in numbers_of(0) else "one"
        path.rename(root / "labeled" / digit / path.name)
    after = opened(root, folds=3, fold=1)
    assert len(after.test) > len(before.test)
    assert torch.equal(after.train.row, before.train.row)  # type: ignore[attr-defined]
    assert torch.equal(after.train.labels[before.train.labels >= 0], before.train.labels[before.train.labels >= 0])
    assert (after.train.labels[before.train.labels == HELD_OUT] == HELD_OUT).all()


def test_test_images_that_contradict_or_cannot_be_read_are_refused(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "own", labels=3, test=1)
    (only,) = (root / "test" / "zero").iterdir()
    copy = root / "labeled" / "one" / "copy.png"
    copy.write_bytes(only.read_bytes())
    with pytest.raises(ConfigError, match="is one among the labeled images and zero among the test images"):
        opened(root)
    copy.unlink()
    for path in (root / "test").rglob("*.png"):
        path.write_text("damaged")
    with pytest.raises(ConfigError, match="none of the test images can be read"):
        opened(root)


def test_images_of_more_than_eight_bits_are_scaled_and_that_is_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = two_digits(tmp_path / "own", labels=12, unlabeled=4)
    dim, floats, nothing = (np.arange(36).reshape(6, 6) * scale for scale in (100, 0.02, np.nan))
    Image.fromarray(dim.astype(np.uint16)).save(root / "pool" / "dim.tiff")
    Image.fromarray((dim - 200).astype(np.int32)).save(root / "pool" / "signed.tiff")
    Image.fromarray(floats.astype(np.float32)).save(root / "pool" / "floats.tiff")
    Image.fromarray(nothing.astype(np.float32)).save(root / "pool" / "nothing.tiff")
    pages = [Image.new("L", (6, 6), level) for level in (9, 8)]
    pages[0].save(root / "pool" / "pages.tiff", save_all=True, append_images=pages[1:])
    for fold in (0, 1, 0):
        source = opened(root, folds=3, fold=fold)
    assert source.num_left_out == 1
    scaled = "1 as 12 bits, 1 as floats from 0 to 1, 1 each by its own lowest and highest value"
    assert capsys.readouterr().err.splitlines() == [
        f"{root}: 1 of 37 files are not readable images and are skipped: 'pool/nothing.tiff' (has pixels that are "
        "infinite or no number (NaN))",
        f"{root}: images of more than 8 bits are scaled to 8, {scaled}; brightness cannot be compared between these.",
        f"{root}: 1 images have several pages, of which the first is used.",
    ]
    (images,) = source.train.read(torch.arange(len(source.train)), None, [])
    assert (images.amax((1, 2, 3)) > 0).all()  # none is black
