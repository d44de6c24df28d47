"""Checkpoints on disk: written whole or not at all, known by their digest, a few of them kept."""

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from smoothpl.io.atomic import put
from smoothpl.io.digests import digest_of

DIGITS = 16  # of the digest, in the name
NAME = re.compile(rf"step=(\d+)-([0-9a-f]{{{DIGITS}}})\.ckpt")


FORMER_PARTS = {"fairness.": "terms.fairness.part."}
"""Parts whose memory is in checkpoints of earlier versions, by what their names begin with."""


class Checkpoint(NamedTuple):
    """The digest of a file is in its name: one rename makes both known."""

    path: Path
    step: int
    digest: str

    @property
    def is_whole(self) -> bool:
        try:
            return digest_of(self.path)[:DIGITS] == self.digest
        except OSError:
            return False


def newest_whole(folder: Path) -> Checkpoint | None:
    """Says loudly what is damaged, puts it aside, and goes back to what is not."""
    for checkpoint in found(folder):
        if checkpoint.is_whole:
            return checkpoint
        sys.stderr.write(f"{checkpoint.path} IS DAMAGED and is not used; looking for an older one.\n")
        with suppress(OSError):
            checkpoint.path.rename(checkpoint.path.with_suffix(".damaged"))
    return None


def commit(draft: Path, step: int, keep: int) -> None:
    """Makes a whole draft a checkpoint beside it, and only then removes older ones: `keep` are left."""
    new = draft.with_name(f"step={step:08}-{digest_of(draft)[:DIGITS]}.ckpt")
    put(draft, new)
    others = [checkpoint for checkpoint in found(draft.parent) if checkpoint.path != new]
    for old in others[keep - 1 :]:
        old.path.unlink()


def rename_parts(state: dict[str, Any]) -> None:
    """Gives what an earlier version has saved the names of this one."""
    for former, name in FORMER_PARTS.items():
        for key in [each for each in state if each.startswith(former)]:
            state[name + key.removeprefix(former)] = state.pop(key)


def found(folder: Path) -> list[Checkpoint]:
    """The newest first, whole or not."""
    matches = [(path, NAME.fullmatch(path.name)) for path in folder.glob("*.ckpt")]
    all_of_them = [Checkpoint(path, int(match[1]), match[2]) for path, match in matches if match]
    return sorted(all_of_them, key=lambda each: each.step, reverse=True)
