"""Digests: a content is known by its digest, wherever it lies."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

AT_A_TIME = 2**20


def digest_of(path: Path) -> str:
    """32 letters for the content of a file."""
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:  # hashlib.file_digest takes twice as long for a small image
        while part := file.read(AT_A_TIME):
            digest.update(part)
    return digest.hexdigest()[:32]


def digests_of(paths: Sequence[Path]) -> list[str]:
    return [digest_of(path) for path in paths]
