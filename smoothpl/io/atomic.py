"""Files that are whole or not there."""

import os
from pathlib import Path

USUAL, PRIVATE = 0o666, 0o600
"""Who may read a new file: as the user's umask has it, or the user alone."""


def create(path: Path, mode: int = USUAL) -> int:
    """Opens a new file for writing, in place of what was there. -> its descriptor.

    Never by way of a link, which somebody else may have put there to have another file overwritten.
    """
    path.unlink(missing_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)


def put(draft: Path, path: Path) -> None:
    """Makes a draft the file it was written for: atomically, and not before it is on the disk."""
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.replace(path)


def write_text(path: Path, text: str, mode: int = USUAL) -> None:
    """A reader sees the old text or the new one, never half of either."""
    draft = path.with_name(f".{path.name}.draft")
    with open(create(draft, mode), "w", newline="", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    put(draft, path)
