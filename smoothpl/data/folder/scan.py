"""Images, the first arrow of the data flow: what lies in a folder of one's own, and which of it has a label."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from unicodedata import normalize

from smoothpl.data.folder.decoded import digests_of_files
from smoothpl.data.folder.label import CLASSES, LABELED, TEST, Label
from smoothpl.data.folder.label_files import read_labels
from smoothpl.data.folder.walk import SUFFIXES, Walk, count_kinds, walk_folder
from smoothpl.errors import ConfigError, require
from smoothpl.io.cache import FileState
from smoothpl.io.escapes import printable
from smoothpl.layout import RECORD

LABELS_CSV = "labels.csv"


@dataclass(frozen=True)
class Scan:
    """All images of a folder, by their paths relative to it, and the class names of those that have a label.

    The folder is walked once, and every file looked at once; whoever needs to know more about the images asks the scan.
    """

    root: Path
    states: dict[str, FileState]  # of every image: what changes with its file
    label: dict[str, str]
    test: dict[str, str]

    @property
    def files(self) -> list[str]:
        return list(self.states)

    @property
    def paths(self) -> list[Path]:
        return [self.root / file for file in self.states]

    @property
    def class_names(self) -> tuple[str, ...]:
        return tuple(sorted({*self.label.values()}))

    @cached_property
    def digests(self) -> dict[str, str]:
        """The content of every file; the files are read once, and the answer is remembered in the user's cache."""
        return dict(zip(self.states, digests_of_files(self.paths, list(self.states.values())), strict=True))

    @property
    def images_digest(self) -> str:
        """A few letters for these images, whatever their names and labels."""
        return letters(sorted({*self.digests.values()}))

    @property
    def labels_digest(self) -> str:
        """A few letters for their labels."""
        train = ((self.digests[file], name, "") for file, name in self.label.items())
        test = ((self.digests[file], name, TEST) for file, name in self.test.items())
        return letters(sorted({*train, *test}))

    @property
    def label_by_content(self) -> dict[str, str]:
        return {self.digests[file]: name for file, name in self.label.items()}


def scan_folder(root: str, labels: str | None = None) -> Scan:
    """Labels come from class folders, labeled/<class>/ and test/<class>/, from the file `labels`, if one is named, and
    from labels.csv, if there is one. Everything else is unlabeled. Reads no image."""
    scan = look_through(root, labels)
    check_classes(root, scan.label, scan.test)
    return scan


def look_through(root: str, labels: str | None = None, knob: str = "data.root") -> Scan:
    """As `scan_folder`, of a folder that need not have a label yet. `knob`: what named it, for messages."""
    folder = Path(root).expanduser()
    require(folder.is_dir(), f"{knob}={root} is not a folder; name the one that holds your images.")
    walk = walk_folder(folder)
    walk.tell()
    require(bool(walk.states), f"{knob}={root} holds no images; the known kinds are {', '.join(SUFFIXES)}.")
    check_class_folders(walk)
    files = list(walk.states)
    given = [*by_class_folder(files)]
    usual = [LABELS_CSV] if (folder / LABELS_CSV).is_file() else []
    for name in dict.fromkeys([*([labels] if labels is not None else []), *usual]):
        given += read_labels(folder / name, files, folder)
    by_file: dict[str, Label] = {}
    for each in given:
        other = by_file.setdefault(each.file, each)
        require(
            (other.name, other.is_test) == (each.name, each.is_test),
            f"{each.where}: {each.file} is {describe(each)}, but {describe(other)} in {other.where}; keep one of them.",
        )
    label = {each.file: each.name for each in by_file.values() if not each.is_test}
    test = {each.file: each.name for each in by_file.values() if each.is_test}
    check_spelling(by_file.values())
    return Scan(folder, walk.states, label, test)


def letters(what: object) -> str:
    return "a" + hashlib.sha256(json.dumps(what).encode()).hexdigest()[:8]  # never a number, to Hydra


def by_class_folder(files: list[str]) -> Iterator[Label]:
    for file in files:
        first, *rest = PurePosixPath(file).parts
        if first in CLASSES:
            require(len(rest) > 1, f"{file} is in no class folder; move it to {first}/<class>/.")
            yield Label(file, rest[0], first == TEST, f"the folder {first}/{rest[0]}")


def check_class_folders(walk: Walk) -> None:
    """Refuses a class folder without an image: a class that somebody meant would be missing."""
    filled = {PurePosixPath(file).parts[:2] for file in walk.states}
    for folder in walk.folders:
        first, *rest = PurePosixPath(folder).parts
        if first not in CLASSES or len(rest) != 1 or (first, *rest) in filled:
            continue
        kinds = count_kinds(kind for file, kind in walk.kinds.items() if file.startswith(f"{folder}/"))
        require(
            folder not in walk.links,
            f"{folder!r} is a link to a folder, which is not followed; put the images there, or links to each of them.",
        )
        why = f"it holds {kinds}; convert them, to JPEG for example" if kinds else "put some into it"
        why = f"it holds a run ({RECORD}); move that elsewhere" if folder in walk.runs else why
        raise ConfigError(f"the class folder {folder!r} has no image that can be read: {why}, or remove the folder.")


def check_spelling(labels: Iterable[Label]) -> None:
    """Refuses names that no terminal and no plot can show, and two that differ by case or spaces only: that is one
    class, spelled in two ways. Single letters may be classes in both cases."""
    first: dict[str, Label] = {}
    for each in labels:
        require(
            printable(each.name) == each.name,
            f"the label {each.name!r} ({each.where}) has control characters; rename it.",
        )
        alike = "".join(normalize("NFKC", each.name).split())
        other = first.setdefault(alike.casefold() if len(alike) > 1 else alike, each)
        require(
            each.name == other.name,
            f"the labels {other.name!r} ({other.where}) and {each.name!r} ({each.where}) differ by case or spaces "
            "only; spell one class in one way, or give two classes names that differ more.",
        )


def describe(label: Label) -> str:
    return f"{label.name}{' (test)' if label.is_test else ''}"


def check_classes(root: str, label: dict[str, str], test: dict[str, str]) -> None:
    if not label:
        raise ConfigError(
            f"data.root={root} holds no labels; put some images into {LABELED}/<class>/, or write {LABELS_CSV} with "
            "the columns file and label, or name another file: data.labels=..."
        )
    names = {*label.values()}
    require(len(names) > 1, f"data.root={root}: all labels are {next(iter(names))!r}; at least two classes are needed.")
    unknown = sorted({*test.values()} - names)
    require(
        not unknown,
        f"data.root={root}: the test images have classes that no labeled image has: {', '.join(unknown[:5])}; label "
        "at least one image of each.",
    )
