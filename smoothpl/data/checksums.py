"""Are these the files that everybody else has? Each is read through once, and the answer is remembered."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from smoothpl.errors import ConfigError

Answer = TypeVar("Answer")


def verify(path: Path, md5: str) -> None:
    """Raises if the file is not the published one. What was found is kept in the cache, never beside the data."""
    recall("verified", [path], lambda: compare(path, md5, "fetch it again"), md5)


def recall(kind: str, paths: Sequence[Path], find: Callable[[], Answer], *more: str) -> Answer:
    """What was found out about files before, for as long as none of them changes; else it is found out now."""
    asked = json.dumps([*map(state_of, paths), *more])
    note = cache_dir() / kind / (hashlib.sha256(asked.encode()).hexdigest() + ".json")
    if note.is_file():
        known: Answer = json.loads(note.read_text())
        return known
    found = find()
    remember(note, found)
    return found


def state_of(path: Path) -> tuple[int, ...]:
    """What changes with a file, whatever name it is called by."""
    try:
        stat = path.stat()
    except FileNotFoundError:  # a link that leads nowhere
        stat = path.lstat()
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def compare(path: Path, md5: str, way_out: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "md5").hexdigest()
    if found != md5:
        raise ConfigError(f"{path} is damaged or not the published file: its MD5 is {found}, not {md5}; {way_out}.")


def remember(note: Path, answer: object) -> None:
    """Leaves a note in the cache; where that cannot be written to, the question is asked again next time."""
    draft = note.with_suffix(f".{os.getpid()}")
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(answer))
        draft.replace(note)  # atomic: two runs that start at once do not meet
    except OSError:
        with suppress(OSError):
            draft.unlink()


def cache_dir() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "smoothpl"
