import os
from collections.abc import Callable
from pathlib import Path

import pytest

from smoothpl.data import folder
from smoothpl.data.folder.scan import scan_folder
from smoothpl.errors import ConfigError
from tests.support.file_access import FileAccess
from tests.support.gallery import noise
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


def test_names_need_not_be_utf_8_and_suffixes_may_be_in_capitals(tmp_path: Path) -> None:
    root = two_digits(tmp_path)
    name = os.fsdecode(b"caf\xe9.PNG")
    save(root / "pool" / "x.png", numbers_of(3)[0]).rename(root / "pool" / name)
    scan = scan_folder(str(root))
    assert f"pool/{name}" in scan.files
    assert root / "pool" / name in scan.paths
    assert len(scan.digests[f"pool/{name}"]) == 32


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


def rename_class(root: Path, name: str) -> None:
    (root / "labeled" / "one").rename(root / "labeled" / name)


def label_one_as(name: str) -> Callable[[Path], None]:
    def label(root: Path) -> None:
        file = sorted((root / "pool").iterdir())[0].relative_to(root)
        (root / "labels.csv").write_text(f"file,label\n{file},{name}\n")

    return label


@pytest.mark.parametrize("name", ["One", "o n e", "ONE"])
def test_labels_that_differ_by_case_or_spaces_only_are_pointed_out(name: str, tmp_path: Path) -> None:
    root = two_digits(tmp_path)
    label_one_as(name)(root)
    message = rf"'one' \(the folder labeled/one\) and '{name}' \(labels.csv, line 2\) differ by case or spaces only"
    with pytest.raises(ConfigError, match=message):
        scan_folder(str(root))


def test_a_label_with_control_characters_is_refused(tmp_path: Path) -> None:
    root = two_digits(tmp_path)
    rename_class(root, "o\x1b[2Jne")
    with pytest.raises(ConfigError, match=r"the label 'o\\x1b\[2Jne' \(.*\) has control characters; rename it"):
        scan_folder(str(root))


def test_letters_may_be_classes_in_both_cases(tmp_path: Path) -> None:
    root = two_digits(tmp_path)
    rename_class(root, "a")
    label_one_as("A")(root)
    assert scan_folder(str(root)).class_names == ("A", "a", "zero")


def raw(root: Path) -> None:
    for suffix in (".CR2", ".cr2", ".pdf"):
        (root / "labeled" / "dog").mkdir(exist_ok=True)
        (root / "labeled" / "dog" / f"x{suffix}").write_text("x")


def linked(root: Path) -> None:
    (root / "test").mkdir()
    (root / "test" / "dog").symlink_to(root / "labeled" / "one")


def a_run(root: Path) -> None:
    save(root / "labeled" / "dog" / "x.png", 0)
    (root / "labeled" / "dog" / "run.json").write_text("{}")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (raw, r"'labeled/dog' has no image that can be read: it holds 2 \.cr2 \(camera raw\), 1 \.pdf; convert them"),
        (linked, "'test/dog' is a link to a folder, which is not followed; put the images there, or links to each"),
        (lambda root: (root / "labeled" / "dog").mkdir(), "'labeled/dog' has no image.*: put some into it, or remove"),
        (a_run, "'labeled/dog' has no image that can be read: it holds a run"),
    ],
)
def test_a_class_folder_without_an_image_is_refused(
    spoil: Callable[[Path], None], message: str, tmp_path: Path
) -> None:
    root = two_digits(tmp_path)
    spoil(root)
    with pytest.raises(ConfigError, match=message):
        scan_folder(str(root))


def test_a_class_may_be_of_photographs_of_a_phone(tmp_path: Path) -> None:
    root = two_digits(tmp_path)
    (root / "labeled" / "dog").mkdir()
    noise().save(root / "labeled" / "dog" / "x.HEIC", format="HEIF")
    assert scan_folder(str(root)).class_names == ("dog", "one", "zero")
