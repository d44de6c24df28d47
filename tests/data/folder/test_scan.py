import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from smoothpl.data import folder
from smoothpl.data.folder.scan import images_below, scan_folder
from smoothpl.errors import ConfigError
from tests.support.file_access import FileAccess
from tests.support.own import numbers_of, save, two_digits


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def test_class_folders_are_labels_and_all_else_is_unlabeled(tmp_path: Path) -> None:
    scan = scan_folder(str(two_digits(tmp_path, labels=2, unlabeled=3, test=1)))
    assert scan.class_names == ("one", "zero")
    assert (len(scan.files), len(scan.label), len(scan.test)) == (12, 4, 2)
    assert all(file.startswith(f"labeled/{name}/") for file, name in scan.label.items())


def test_a_csv_adds_to_folders(tmp_path: Path) -> None:
    two_digits(tmp_path)
    file = sorted((tmp_path / "pool").iterdir())[0].relative_to(tmp_path)
    (tmp_path / "labels.csv").write_text(f"file,label\n{file},three\n")
    scan = scan_folder(str(tmp_path))
    assert scan.label[str(file)] == "three"
    assert len(scan.class_names) == 3
    (tmp_path / "labels.csv").rename(tmp_path / "mine.csv")
    assert len(scan_folder(str(tmp_path)).class_names) == 2
    assert len(scan_folder(str(tmp_path), "mine.csv").class_names) == 3
    other = sorted((tmp_path / "pool").iterdir())[1].relative_to(tmp_path)
    (tmp_path / "labels.csv").write_text(f"file,label\n{other},four\n")
    assert len(scan_folder(str(tmp_path), "mine.csv").class_names) == 4  # what was added on the page of suggestions


def test_hidden_files_other_files_and_runs_are_not_images(tmp_path: Path) -> None:
    two_digits(tmp_path)
    before = scan_folder(str(tmp_path)).files
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "pool" / "dangling.png").symlink_to(tmp_path / "gone.png")
    save(tmp_path / "outputs" / "run.png", 0)
    (tmp_path / "outputs" / "run.json").write_text("{}")
    save(tmp_path / ".cache" / "x.png", 0)
    save(tmp_path / "pool" / ".hidden.png", 0)
    assert scan_folder(str(tmp_path)).files == before


def test_a_digest_of_images_does_not_depend_on_labels_or_places(tmp_path: Path) -> None:
    before = scan_folder(str(two_digits(tmp_path)))
    file = sorted((tmp_path / "pool").iterdir())[0]
    assert before.images_digest  # read before the file is moved
    file.rename(tmp_path / "labeled" / "one" / "other name.png")
    labeled = scan_folder(str(tmp_path))
    assert labeled.images_digest == before.images_digest
    assert labeled.labels_digest != before.labels_digest
    save(tmp_path / "pool" / "new.png", numbers_of(5)[0])
    more = scan_folder(str(tmp_path))
    assert more.images_digest != before.images_digest
    assert more.labels_digest == labeled.labels_digest
    save(tmp_path / "test" / "one" / "x.png", 0).unlink()
    (tmp_path / "labeled" / "one" / "other name.png").rename(tmp_path / "test" / "one" / "other name.png")
    digests = [before.labels_digest, labeled.labels_digest, scan_folder(str(tmp_path)).labels_digest]
    (tmp_path / "test" / "one").rename(tmp_path / "test" / "zero")
    assert len({*digests, scan_folder(str(tmp_path)).labels_digest}) == 4
    assert scan_folder(str(tmp_path)).images_digest == more.images_digest
    assert not before.images_digest.isdecimal()
    assert not before.labels_digest.isdecimal()


def test_a_folder_is_walked_once_and_every_file_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the start to images that are ready: finding, digests, labels, decoding; and all of it a second time."""
    root = two_digits(tmp_path, labels=8, unlabeled=8, test=2)  # so few that no other process does a part of it
    (root / "pool" / "link.png").symlink_to(sorted((root / "pool").iterdir())[0])
    last = sorted((root / "pool").glob("0*.png"))[-1].relative_to(root)
    (root / "labels.csv").write_text(f"file,label\n{last},one\n")
    images = {str(path) for path in root.rglob("*.png")}
    folders = {str(root), *(str(path) for path in root.rglob("*") if path.is_dir())}
    for _ in range(2):
        with monkeypatch.context() as patch:
            access = FileAccess(patch)
            scan = scan_folder(str(root))
            for _ in range(3):
                digests = {"images_digest": scan.images_digest, "labels_digest": scan.labels_digest}
            assert len(scan.label_by_content) == 17
            source = folder(str(root), **digests, size=8, num_labels=17, folds=0, fold=0, scan=scan)
        assert (len(images), len(source.train)) == (37, 36)
        assert {place: access.listings[place] for place in folders} == dict.fromkeys(folders, 1)
        assert {path: access.looks[path] for path in images} == dict.fromkeys(images, 1)
        assert access.looks[str(root / "labels.csv")] == 1


def test_links_to_files_count_and_links_to_folders_or_nowhere_do_not(tmp_path: Path) -> None:
    outside, root = save(tmp_path / "outside" / "a.png", 0), tmp_path / "own"
    save(root / "b.png", 1)
    (root / "c.png").symlink_to(outside)
    (root / "folder.png").mkdir()
    save(root / "folder.png" / "d.png", 2)
    (root / "linked").symlink_to(tmp_path / "outside")
    (root / "linked.png").symlink_to(tmp_path / "outside")
    (root / "up").symlink_to(root)
    (root / "gone.png").symlink_to(root / "nothing")
    (root / "below a file.png").symlink_to(root / "b.png" / "x.png")
    (root / "circle.png").symlink_to(root / "circle.png")
    os.mkfifo(root / "pipe.png")
    assert [file for file, _ in sorted(images_below(root))] == ["b.png", "c.png", "folder.png/d.png"]


def test_the_state_of_a_link_is_that_of_its_file(tmp_path: Path) -> None:
    file = save(tmp_path / "a.png", 0)
    (tmp_path / "b.png").symlink_to(file)
    (tmp_path / "c.png").hardlink_to(file)
    states = dict(images_below(tmp_path))
    assert states["a.png"] == states["b.png"] == states["c.png"]
    save(file, 1)
    os.utime(file, ns=(1, 1))
    assert dict(images_below(tmp_path))["b.png"] != states["b.png"]


def test_names_need_not_be_utf_8_and_suffixes_may_be_in_capitals(tmp_path: Path) -> None:
    root = two_digits(tmp_path)
    name = os.fsdecode(b"caf\xe9.PNG")
    save(root / "pool" / "x.png", numbers_of(3)[0]).rename(root / "pool" / name)
    scan = scan_folder(str(root))
    assert f"pool/{name}" in scan.files
    assert root / "pool" / name in scan.paths
    assert len(scan.digests[f"pool/{name}"]) == 32


def refusing(refused: str, error: int) -> Any:
    scandir = os.scandir

    def list_folder(place: str | Path) -> Any:
        if Path(place).name == refused:
            raise OSError(error, os.strerror(error), os.fspath(place))
        return scandir(place)

    return list_folder


@pytest.mark.parametrize("error", [errno.EACCES, errno.ENOENT])
def test_a_folder_that_cannot_be_read_is_skipped_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: int
) -> None:
    root = two_digits(tmp_path)
    before = scan_folder(str(root)).files
    save(root / "secret" / "x.png", 0)
    monkeypatch.setattr(os, "scandir", refusing("secret", error))
    assert scan_folder(str(root)).files == before
    assert f"'{root}/secret' cannot be read ({os.strerror(error)}) and is skipped." in capsys.readouterr().err


def test_a_file_that_cannot_be_looked_at_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder whose names may be listed, but no more."""
    root = two_digits(tmp_path)
    file = str(root / "closed.png")

    class Closed:
        name, path = "closed.png", file

        def is_dir(self, follow_symlinks: bool) -> bool:
            return False

        def stat(self) -> None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), self.path)

    @contextmanager
    def closed(_: object) -> Iterator[list[Closed]]:
        yield [Closed()]

    monkeypatch.setattr(os, "scandir", closed)
    with pytest.raises(ConfigError, match=r"closed\.png' cannot be read \(Permission denied\); correct its permissi"):
        scan_folder(str(root))


def contradict(root: Path) -> None:
    file = sorted((root / "labeled" / "one").iterdir())[0].relative_to(root)
    (root / "labels.csv").write_text(f"file,label\n{file},zero\n")


def unlabel(root: Path) -> None:
    (root / "labeled").rename(root / "photos")


def test_an_error_says_what_is_wrong_with_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"data.root=.* is not a folder"):
        scan_folder(str(tmp_path / "gone"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"holds no images; the known kinds are \.jpg"):
        scan_folder(str(tmp_path / "empty"))
    cases = {
        "says one and zero": (contradict, "is zero, but one in the folder labeled/one; keep one of them"),
        "has no labels": (unlabel, "holds no labels; put some images into labeled/<class>/"),
        "has one class": (lambda root: (root / "labeled" / "one").rename(root / "one"), "all labels are 'zero'"),
        "no class": (
            lambda root: save(root / "labeled" / "x.png", 0),
            "labeled/x.png is in no class folder; move it to labeled/<class>/",
        ),
        "odd test": (lambda root: save(root / "test" / "two" / "x.png", 0), "no labeled image has: two"),
    }
    for name, (spoil, message) in cases.items():
        root = two_digits(tmp_path / name)
        spoil(root)
        with pytest.raises(ConfigError, match=message):
            scan_folder(str(root))
