"""The user's cache: what was found out about files, remembered for as long as they do not change."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

Answer = TypeVar("Answer")
FileState = tuple[int, ...]
"""What changes with a file, whatever name it is called by."""


def recall(kind: str, states: Sequence[FileState], find: Callable[[], Answer], *more: str) -> Answer:
    """What `find` has answered about these files before; it is asked again when one of them has changed."""
    asked = json.dumps([*states, *more])
    note = cache_dir() / kind / (hashlib.sha256(asked.encode()).hexdigest() + ".json")
    if note.is_file():
        known: Answer = json.loads(note.read_text())
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
