"""Checkpoints on disk: written whole or not at all, known by their digest, a few of them kept."""

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

NAME = re.compile(r"step=(\d+)-([0-9a-f]{16})\.ckpt")


class Checkpoint(NamedTuple):
    """The digest of a file is in its name: one rename makes both known."""

    path: Path
    step: int
    digest: str

    @property
    def is_whole(self) -> bool:
        return digest_of(self.path) == self.digest


def save(folder: Path, step: int, write: Callable[[Path], None], keep: int) -> None:
    """`write` gets the path of a draft. Only when the new file is safe are older ones removed, all but `keep`."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / ".draft"
    try:
        write(draft)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(folder / f"step={step:08}-{digest_of(draft)}.ckpt")
    finally:
        draft.unlink(missing_ok=True)
    for old in found(folder)[keep:]:
        old.path.unlink()


def found(folder: Path) -> list[Checkpoint]:
    """The newest first, whole or not."""
    matches = [(path, NAME.fullmatch(path.name)) for path in folder.glob("*.ckpt")]
    all_of_them = [Checkpoint(path, int(match[1]), match[2]) for path, match in matches if match]
    return sorted(all_of_them, key=lambda each: each.step, reverse=True)


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
