from pathlib import Path

import pytest

from smoothpl.data.album import fingerprint, open_album, told
from smoothpl.errors import ConfigError
from tests.data.own import numbers_of, save, two_digits


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def test_class_folders_are_labels_and_all_else_is_unlabeled(tmp_path: Path) -> None:
    album = open_album(str(two_digits(tmp_path, labels=2, unlabeled=3, test=1)))
    assert album.class_names == ("one", "zero")
    assert (len(album.files), len(album.label), len(album.test)) == (12, 4, 2)
    assert all(file.startswith(f"labeled/{name}/") for file, name in album.label.items())


def test_a_csv_adds_to_folders(tmp_path: Path) -> None:
    two_digits(tmp_path)
    file = sorted((tmp_path / "pool").iterdir())[0].relative_to(tmp_path)
    (tmp_path / "labels.csv").write_text(f"file,label\n{file},three\n")
    album = open_album(str(tmp_path))
    assert album.label[str(file)] == "three"
    assert len(album.class_names) == 3
    (tmp_path / "labels.csv").rename(tmp_path / "mine.csv")
    assert len(open_album(str(tmp_path)).class_names) == 2
    assert len(open_album(str(tmp_path), "mine.csv").class_names) == 3
    other = sorted((tmp_path / "pool").iterdir())[1].relative_to(tmp_path)
    (tmp_path / "labels.csv").write_text(f"file,label\n{other},four\n")
    assert len(open_album(str(tmp_path), "mine.csv").class_names) == 4  # what was added on the page of suggestions


def test_hidden_files_and_other_files_are_no_images(tmp_path: Path) -> None:
    two_digits(tmp_path)
    before = open_album(str(tmp_path)).files
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "pool" / "dangling.png").symlink_to(tmp_path / "gone.png")
    save(tmp_path / "outputs" / "run.png", 0)
    (tmp_path / "outputs" / "run.json").write_text("{}")
    save(tmp_path / ".cache" / "x.png", 0)
    save(tmp_path / "pool" / ".hidden.png", 0)
    assert open_album(str(tmp_path)).files == before


def test_a_fingerprint_knows_images_not_labels_or_places(tmp_path: Path) -> None:
    two_digits(tmp_path)
    before = fingerprint(open_album(str(tmp_path)))
    file = sorted((tmp_path / "pool").iterdir())[0]
    labels = told(open_album(str(tmp_path)))
    file.rename(tmp_path / "labeled" / "one" / "other name.png")
    assert fingerprint(open_album(str(tmp_path))) == before
    assert told(open_album(str(tmp_path))) != labels
    save(tmp_path / "pool" / "new.png", numbers_of(5)[0])
    assert fingerprint(open_album(str(tmp_path))) != before
    assert not before.isdecimal()


def contradict(root: Path) -> None:
    file = sorted((root / "labeled" / "one").iterdir())[0].relative_to(root)
    (root / "labels.csv").write_text(f"file,label\n{file},zero\n")


def unlabel(root: Path) -> None:
    (root / "labeled").rename(root / "photos")


def test_what_is_wrong_with_a_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"data.root=.* is no folder"):
        open_album(str(tmp_path / "gone"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"holds no image; known are \.jpg"):
        open_album(str(tmp_path / "empty"))
    cases = {
        "says one and zero": (contradict, "is zero, but one in the folder labeled/one; say one of them"),
        "has no labels": (unlabel, "holds no labels; put some images into labeled/<class>/"),
        "has one class": (lambda root: (root / "labeled" / "one").rename(root / "one"), "all labels are 'zero'"),
        "no class": (lambda root: save(root / "labeled" / "x.png", 0), "labeled/x.png lies in no class folder"),
        "odd test": (lambda root: save(root / "test" / "two" / "x.png", 0), "no labeled image has: two"),
    }
    for name, (spoil, message) in cases.items():
        root = two_digits(tmp_path / name)
        spoil(root)
        with pytest.raises(ConfigError, match=message):
            open_album(str(root))
