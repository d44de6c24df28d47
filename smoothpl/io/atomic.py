"""Files that are whole or not there."""

import os
from pathlib import Path


def put(draft: Path, path: Path) -> None:
    """Makes a draft the file it was written for: atomically, and not before it is on the disk."""
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.replace(path)


def write_text(path: Path, text: str) -> None:
    """A reader sees the old text or the new one, never half of either."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text, newline="", encoding="utf-8", errors="surrogateescape")
    put(draft, path)
