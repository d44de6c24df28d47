"""The user's cache: what was found out about files, remembered for as long as they do not change."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

Answer = TypeVar("Answer")


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
