"""Images of one's own, decoded and brought to one size once.

A decoded image is known by the content of its file, so that moving, renaming or copying files costs nothing, and in a
folder that grows only the new files are decoded. They are kept in the user's cache, never beside the images, and may be
removed at any time.
"""

import hashlib
import json
import shutil
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import torch
from filelock import FileLock
from torch import Tensor

from smoothpl.data.folder.store import Store, make, read_by
from smoothpl.errors import ConfigError
from smoothpl.io.atomic import PRIVATE
from smoothpl.io.cache import FileState, cache_dir, elsewhere, make_private, recall
from smoothpl.io.digests import digests_of

VERSION = 2
"""Changes with the way images are decoded, so that nothing decoded in another way is used."""


class Decoded(NamedTuple):
    """images (M, 3, size, size) uint8, on disk, one row for each content; and which row every file has."""

    images: Tensor
    row: Tensor  # (N,); -1 for a file that is not an image
    digests: list[str]  # of every file: its content
    bad: dict[str, str]  # by content: why it is not an image
    remarks: dict[str, set[str]]  # how images of more than 8 bits were scaled, and the like: on which contents


class Rows(NamedTuple):
    """Some of the decoded images, in an order of their own: read from the disk when they are needed."""

    images: Tensor
    row: Tensor
    labels: Tensor
    digests: Sequence[str] = ()  # of their files
    files: Sequence[str] = ()  # relative to the folder; of several with the same content, the first

    @property
    def same_size(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self.labels)

    def contents(self) -> list[bytes]:
        """Of the files, and how they were decoded: what a bank of features knows them by."""
        return [f"{digest} {self.images.shape[-1]} {VERSION}".encode() for digest in self.digests]

    def read(self, index: Tensor, frame: object, draws: object) -> list[Tensor]:
        return [self.images[self.row[index]]]


def decode_all(paths: Sequence[Path], digests: Sequence[str], size: int) -> Decoded:
    """Decodes every content once, also if two processes start together; one that is killed leaves nothing half done."""
    first = dict(zip(reversed(digests), reversed(paths), strict=True))
    by_content = {digest: first[digest] for digest in sorted(first)}
    name = hashlib.sha256(json.dumps(list(by_content)).encode()).hexdigest()[:32]
    folder = cache_dir() / "decoded" / f"{size}-{VERSION}"
    store = Store(folder / f"{name}.npy")
    try:
        make_private(folder)
        with FileLock(store.lock, mode=PRIVATE):
            stored = store.read_if_whole()
            if stored is None:
                make(store, by_content, size)
                remove_older(folder)
                stored = store.read()
    except OSError as error:
        needed = f"{len(by_content) * 3 * size**2 / 1e6:,.0f} MB"
        raise ConfigError(
            f"{error.filename or folder}: {error.strerror}; decoded images are kept there, {needed} for these: "
            f"{elsewhere(error)}."
        ) from error
    place = {digest: number for number, digest in enumerate(by_content) if number not in stored.bad}
    return Decoded(
        stored.images,
        torch.tensor([place.get(digest, -1) for digest in digests]),
        list(digests),
        {stored.order[row]: why for row, why in stored.bad.items()},
        {remark: {stored.order[row] for row in rows} for remark, rows in stored.remarks.items()},
    )


def remove_older(folder: Path) -> None:
    """Removes what was decoded to the same size in an earlier way, which nothing will read again."""
    size, _, version = folder.name.partition("-")
    for earlier in range(1, int(version)):
        shutil.rmtree(folder.with_name(f"{size}-{earlier}"), ignore_errors=True)


def digests_of_files(paths: Sequence[Path], states: Sequence[FileState]) -> list[str]:
    """Digests of the contents, read by all cores; remembered for as long as no state changes."""
    return recall("contents", states, lambda: list(chain.from_iterable(read_by(digests_of, paths))))
