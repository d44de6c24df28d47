"""Images, the first arrow of the data flow: what lies in a folder of one's own, and which of it has a label."""

import errno
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from stat import S_ISREG

from smoothpl.cli.messages import inform
from smoothpl.data.folder.decoded import digests_of_files
from smoothpl.data.folder.label_files import TEST, Label, read_labels
from smoothpl.errors import ConfigError, require
from smoothpl.io.cache import FileState, state_from
from smoothpl.layout import RECORD

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
LABELED = "labeled"
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
    folder = Path(root).expanduser()
    require(folder.is_dir(), f"data.root={root} is not a folder; name the one that holds your images.")
    states = dict(sorted(images_below(folder)))
    require(bool(states), f"data.root={root} holds no images; the known kinds are {', '.join(SUFFIXES)}.")
    files = list(states)
    given = [*by_class_folder(files)]
    usual = [LABELS_CSV] if (folder / LABELS_CSV).is_file() else []
    for name in dict.fromkeys([*([labels] if labels is not None else []), *usual]):
        given += read_labels(folder / name, files)
    by_file: dict[str, Label] = {}
    for each in given:
        other = by_file.setdefault(each.file, each)
        require(
            (other.name, other.is_test) == (each.name, each.is_test),
            f"{each.where}: {each.file} is {describe(each)}, but {describe(other)} in {other.where}; keep one of them.",
        )
    label = {each.file: each.name for each in by_file.values() if not each.is_test}
    test = {each.file: each.name for each in by_file.values() if each.is_test}
    check_classes(root, label, test)
    return Scan(folder, states, label, test)


def images_below(folder: Path) -> Iterator[tuple[str, FileState]]:
    """Yields the path relative to the folder, and the state, of every image. A link to a file counts as that file."""
    for file, entry in files_below(folder):
        if PurePosixPath(file).suffix.lower() in SUFFIXES:
            state = state_of_entry(entry)
            if state is not None:
                yield file, state


def files_below(folder: str | Path, prefix: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yields the path relative to the folder of everything in it and its subfolders; `prefix` goes before each.

    Hidden files and folders are skipped, and so is a folder that holds a run: its pictures are not what it learns from.
    """
    for entry in entries_of(folder):
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):  # a link to a folder may lead in a circle
            yield from files_below(entry.path, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry


def entries_of(folder: str | Path) -> list[os.DirEntry[str]]:
    """What lies in one folder; nothing if it holds a run or cannot be read."""
    try:
        with os.scandir(folder) as listing:
            entries = list(listing)
    except OSError as error:
        inform(f"{os.fspath(folder)!r} cannot be read ({error.strerror}) and is skipped.")
        return []
    return [] if any(entry.name == RECORD and not entry.is_dir(follow_symlinks=False) for entry in entries) else entries


def state_of_entry(entry: os.DirEntry[str]) -> FileState | None:
    """The state of a file, which is looked at once; None for a folder, or a link that leads nowhere or in a circle."""
    try:
        stat = entry.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise ConfigError(
            f"{entry.path!r} cannot be read ({error.strerror}); correct its permissions, or move it elsewhere."
        ) from error
    return state_from(stat) if S_ISREG(stat.st_mode) else None


def letters(what: object) -> str:
    return "a" + hashlib.sha256(json.dumps(what).encode()).hexdigest()[:8]  # never a number, to Hydra


def by_class_folder(files: list[str]) -> Iterator[Label]:
    for file in files:
        first, *rest = PurePosixPath(file).parts
        if first in (LABELED, TEST):
            require(len(rest) > 1, f"{file} is in no class folder; move it to {first}/<class>/.")
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
    require(len(names) > 1, f"data.root={root}: all labels are {next(iter(names))!r}; at least two classes are needed.")
    unknown = sorted({*test.values()} - names)
    require(
        not unknown,
        f"data.root={root}: the test images have classes that no labeled image has: {', '.join(unknown[:5])}; label "
        "at least one image of each.",
    )
