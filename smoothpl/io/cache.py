"""The user's cache: what was found out about files, remembered for as long as they do not change."""

import errno
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from smoothpl.io.atomic import PRIVATE, create

FULL = (errno.ENOSPC, errno.EDQUOT)
Answer = TypeVar("Answer")
FileState = tuple[int, ...]
"""What changes with a file, whatever name it is called by."""


def recall(kind: str, states: Sequence[FileState], find: Callable[[], Answer], *more: str) -> Answer:
    """What `find` has answered about these files before; it is asked again when one of them has changed, and when the
    note is damaged."""
    asked = json.dumps([*states, *more])
    note = cache_dir() / kind / (hashlib.sha256(asked.encode()).hexdigest() + ".json")
    with suppress(OSError, DamagedNoteError):
        known: Answer = read_note(note)
        return known
    found = find()
    remember(note, found)
    return found


def state_of(path: Path) -> FileState:
    try:
        return state_from(path.stat())
    except FileNotFoundError:  # a link that leads nowhere
        return state_from(path.lstat())


def state_from(stat: os.stat_result) -> FileState:
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def remember(note: Path, answer: object) -> None:
    """Leaves a note in the cache; if that cannot be written to, the question is asked again next time."""
    with suppress(OSError):
        make_private(note.parent)
        write_note(note, answer)


def write_note(note: Path, answer: object) -> None:
    """Writes an answer with its checksum."""
    draft = note.with_suffix(f".{os.getpid()}")
    try:
        with open(create(draft, PRIVATE), "w", encoding="utf-8") as file:
            json.dump({"checksum": checksum(answer), "answer": answer}, file)
        draft.replace(note)  # atomic: two runs that start at once do not meet
    finally:
        draft.unlink(missing_ok=True)


def read_note(note: Path) -> Any:
    """The answer, as it was written. DamagedNoteError if it is not."""
    try:
        content = json.loads(note.read_bytes())
        if content["checksum"] == checksum(content["answer"]):
            return content["answer"]
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise DamagedNoteError(f"{note.name} is not as it was written")


class DamagedNoteError(ValueError):
    """A note in the cache that is not what was written."""


def checksum(answer: object) -> int:
    """Against accidents: a disk that was full, a file that was cut or edited."""
    return zlib.crc32(json.dumps(answer).encode())


def make_private(folder: Path) -> None:
    """Makes a folder of the cache, which nobody else may open; one that exists stays as it is."""
    cache_dir().parent.mkdir(parents=True, exist_ok=True)
    for each in (*reversed(folder.parents), folder):
        if each.is_relative_to(cache_dir()):
            each.mkdir(mode=0o700, exist_ok=True)


def elsewhere(error: OSError) -> str:
    """What to do where the cache cannot be written to; room helps only a disk that is full."""
    place = "name another place in the environment variable XDG_CACHE_HOME"
    return f"make room, or {place}" if error.errno in FULL else f"{place}, a folder of your own"


def cache_dir() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "smoothpl"
