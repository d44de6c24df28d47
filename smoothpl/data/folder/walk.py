"""Images, the first arrow of the data flow: which files below a folder are images, and what is passed over."""

import errno
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from stat import S_ISDIR, S_ISREG

from smoothpl.cli.messages import first_few, inform, inform_once
from smoothpl.data.decode import MOST_BYTES
from smoothpl.data.folder.label import CLASSES
from smoothpl.errors import ConfigError, require
from smoothpl.io.cache import FileState, state_from
from smoothpl.layout import CHECKPOINTS, LOGS, PSEUDO_LABELS_PICTURE, RECORD, RUN_PICTURE

SUFFIXES = (
    *(".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"),
    *(".heic", ".heif", ".hif", ".avif", ".ppm", ".pgm", ".pbm", ".pnm"),
)
RAW = (
    *(".3fr", ".arw", ".cr2", ".cr3", ".crw", ".dng", ".erf", ".kdc", ".mef", ".mrw", ".nef", ".nrw", ".orf", ".pef"),
    *(".raf", ".raw", ".rw2", ".sr2", ".srf", ".srw", ".x3f"),
)
"""What cameras save when they leave developing to a program."""
COMPANIONS = (
    *(".csv", ".tsv", ".txt", ".md", ".rst", ".json", ".jsonl", ".xml", ".yaml", ".yml", ".toml", ".ini", ".log"),
    *(".xmp", ".aae", ".thm", ".db", ".html", ".htm", ".py", ".ipynb", ".sh", ".xls", ".xlsx", ".ods", ".lock"),
)
"""What lies beside images, and nobody takes for one."""
PAPERS = ("readme", "license", "licence", "copying", "notice", "makefile", "md5sums", "sha256sums")
NUM_KINDS = 8
OF_A_RUN = (RECORD, RUN_PICTURE, PSEUDO_LABELS_PICTURE, CHECKPOINTS, LOGS)


@dataclass
class Walk:
    """All images below a folder, by their paths relative to it, and what else was met there."""

    root: Path
    states: dict[str, FileState] = field(default_factory=dict)  # of every image: what changes with its file
    folders: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)  # the kind of every file that is neither image nor companion
    links: list[str] = field(default_factory=list)  # to folders
    broken: list[str] = field(default_factory=list)  # links to nothing
    runs: list[str] = field(default_factory=list)
    large: list[str] = field(default_factory=list)

    def tell(self) -> None:
        """Names what is passed over, once per start."""
        others = {
            "linked folders, which are not followed": self.links,
            "links that lead nowhere": self.broken,
            f"folders that hold a run, with {RECORD}": self.runs,
            f"files of more than {MOST_BYTES / 1e9:.1f} GB": self.large,
        }
        lists = [f"{what} ({len(files):,}): {names(files)}" for what, files in others.items() if files]
        parts = [*([count_kinds(self.kinds.values())] if self.kinds else []), *lists]
        if parts:
            is_raw = any(kind in RAW for kind in self.kinds.values())
            way_out = " Convert camera raw, to JPEG or TIFF for example." if is_raw else ""
            inform_once(f"{self.root}: skipped {'; '.join(parts)}.{way_out}")


def names(files: Iterable[str]) -> str:
    return first_few([repr(file) for file in sorted(files)])


def count_kinds(kinds: Iterable[str]) -> str:
    """12 .cr2 (camera raw), 3 .pdf"""
    counts = Counter(kinds).most_common()
    shown = [f"{number:,} {kind}{' (camera raw)' if kind in RAW else ''}" for kind, number in counts[:NUM_KINDS]]
    rest = sum(number for _, number in counts[NUM_KINDS:])
    return ", ".join([*shown, f"{rest:,} of other kinds"] if rest else shown)


def walk_folder(root: Path) -> Walk:
    """Looks at every file once, and reads none. A link to a file counts as that file."""
    walk = Walk(root)
    for file, entry in files_below(root, walk):
        look_at(walk, file, entry)
    walk.states = dict(sorted(walk.states.items()))
    return walk


def images_below(folder: Path) -> list[tuple[str, FileState]]:
    """The path relative to the folder, and the state, of every image; what is passed over is said."""
    walk = walk_folder(folder)
    walk.tell()
    return list(walk.states.items())


def files_below(folder: str | Path, walk: Walk, prefix: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yields the path relative to the root of everything in the folder and its subfolders; `prefix` leads to it.

    Hidden files and folders are skipped, and so is a folder that holds a run: its pictures are not what it learns from.
    """
    entries = entries_of(folder)
    if any(entry.name == RECORD and not entry.is_dir(follow_symlinks=False) for entry in entries):
        if prefix:
            walk.runs.append(prefix.rstrip("/"))
            return
        entries = [entry for entry in entries if entry.name not in OF_A_RUN]  # the root is looked through
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            walk.folders.append(prefix + entry.name)
            yield from files_below(entry.path, walk, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry


def entries_of(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            return list(listing)
    except OSError as error:
        inform(f"{os.fspath(folder)!r} cannot be read ({error.strerror}) and is skipped.")
        return []


def look_at(walk: Walk, file: str, entry: os.DirEntry[str]) -> None:
    """Notes what a file, or a link, is."""
    kind = kind_of(file)
    if kind not in SUFFIXES:
        if is_linked_folder(entry):
            note_link(walk, file)
        elif kind:
            walk.kinds[file] = kind
        return
    stat = stat_of(entry)
    if stat is None:
        walk.broken.append(file)
    elif S_ISDIR(stat.st_mode):
        note_link(walk, file)
    elif S_ISREG(stat.st_mode):
        if stat.st_size > MOST_BYTES:
            walk.large.append(file)
        else:
            walk.states[file] = state_from(stat)


def note_link(walk: Walk, file: str) -> None:
    """Such a folder is not followed: it may lead in a circle, or out of what the user meant to show."""
    walk.folders.append(file)
    walk.links.append(file)


def kind_of(file: str) -> str:
    """The ending, in small letters; nothing for companions of images."""
    path = PurePosixPath(file)
    suffix = path.suffix.lower()
    if suffix in COMPANIONS or path.name.lower() in PAPERS:
        return ""
    return suffix if suffix[1:].isalnum() and len(suffix) <= 8 else "without a known ending"


def is_linked_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):  # a circle
        return entry.is_symlink() and entry.is_dir()
    return False


def stat_of(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Of a file, which is looked at once; None for a link that leads nowhere or in a circle."""
    try:
        return entry.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise ConfigError(
            f"{entry.path!r} cannot be read ({error.strerror}); correct its permissions, or move it elsewhere."
        ) from error


def check_place(key: str, place: str, root: Path) -> None:
    """Refuses to write a run among images: a folder that holds a run is passed over, with all images in it."""
    written, images = Path(place).resolve(), root.resolve()
    if not written.is_relative_to(images):
        return
    inner = written.relative_to(images).parts
    require(
        bool(inner) and inner[0] not in CLASSES and not (written.is_dir() and walk_folder(written).states),
        f"{key}={place} is {'in ' if inner else ''}the folder of images (data.root={root}), and a run must not lie "
        f"among images; name a place outside of it, for example {key}=runs/{root.name}.",
    )
