"""Images, the first arrow of the data flow: what lies in a folder of one's own, and which of it has a label."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from smoothpl.data.decoded import contents
from smoothpl.data.label_files import TEST, Label, read_labels
from smoothpl.errors import ConfigError, require
from smoothpl.layout import RECORD

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
LABELED = "labeled"
LABELS_CSV = "labels.csv"


class Album(NamedTuple):
    """All images of a folder, by their paths relative to it; and the classes, by name, of those that have a label."""

    root: Path
    files: list[str]
    label: dict[str, str]
    test: dict[str, str]

    @property
    def class_names(self) -> tuple[str, ...]:
        return tuple(sorted({*self.label.values()}))


def open_album(root: str, labels: str | None = None) -> Album:
    """Labels are those of class folders, labeled/<class>/ and test/<class>/, of the file `labels`, if one is named, and
    of labels.csv, if there is one. Everything else is unlabeled. Reads no image."""
    folder = Path(root).expanduser()
    require(folder.is_dir(), f"data.root={root} is no folder; name the one that holds your images.")
    files = sorted(images_below(folder))
    require(bool(files), f"data.root={root} holds no image; known are {', '.join(SUFFIXES)}.")
    told = [*by_class_folder(files)]
    usual = [LABELS_CSV] if (folder / LABELS_CSV).is_file() else []
    for name in dict.fromkeys([*([labels] if labels is not None else []), *usual]):
        told += read_labels(folder / name, files)
    by_file: dict[str, Label] = {}
    for each in told:
        other = by_file.setdefault(each.file, each)
        require(
            (other.name, other.is_test) == (each.name, each.is_test),
            f"{each.where}: {each.file} is {describe(each)}, but {describe(other)} in {other.where}; say one of them.",
        )
    label = {each.file: each.name for each in by_file.values() if not each.is_test}
    test = {each.file: each.name for each in by_file.values() if each.is_test}
    check_classes(root, label, test)
    return Album(folder, files, label, test)


def fingerprint(album: Album) -> str:
    """A few letters for these images, whatever their names and labels."""
    return letters(sorted({*digest_by_file(album).values()}))


def told(album: Album) -> str:
    """A few letters for their labels."""
    by_file = digest_by_file(album)
    labels = [(by_file[file], name, "") for file, name in album.label.items()]
    return letters(sorted({*labels, *((by_file[file], name, TEST) for file, name in album.test.items())}))


def label_by_content(album: Album) -> dict[str, str]:
    by_file = digest_by_file(album)
    return {by_file[file]: name for file, name in album.label.items()}


def digest_by_file(album: Album) -> dict[str, str]:
    return dict(zip(album.files, contents([album.root / file for file in album.files]), strict=True))


def letters(what: object) -> str:
    return "a" + hashlib.sha256(json.dumps(what).encode()).hexdigest()[:8]  # never a number, to Hydra


def images_below(folder: Path) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        if RECORD in names:  # the pictures of a run are not what it learns from
            folders.clear()
            continue
        for name in names:
            is_image = PurePosixPath(name).suffix.lower() in SUFFIXES and Path(place, name).is_file()
            if is_image and not name.startswith("."):
                yield Path(place, name).relative_to(folder).as_posix()


def by_class_folder(files: list[str]) -> Iterator[Label]:
    for file in files:
        first, *rest = PurePosixPath(file).parts
        if first in (LABELED, TEST):
            require(len(rest) > 1, f"{file} lies in no class folder; it must be {first}/<class>/...")
            yield Label(file, rest[0], first == TEST, f"the folder {first}/{rest[0]}")


def describe(label: Label) -> str:
    return f"{label.name}{' (test)' if label.is_test else ''}"


def check_classes(root: str, label: dict[str, str], test: dict[str, str]) -> None:
    if not label:
        raise ConfigError(
            f"data.root={root} holds no labels; put some images into {LABELED}/<class>/, or write {LABELS_CSV} with "
            "the columns file and label, or name another file: data.labels=..."
        )
    names = {*label.values()}
    require(len(names) > 1, f"data.root={root}: all labels are {next(iter(names))!r}; two classes are needed at least.")
    unknown = sorted({*test.values()} - names)
    require(
        not unknown,
        f"data.root={root}: the test images have classes that no labeled image has: {', '.join(unknown[:5])}; label "
        "one of each at least.",
    )
