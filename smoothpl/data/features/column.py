"""A column of the bank of features: one vector per image, for one view, in a file that only ever grows.

Rows are appended, so that added images cost only themselves. A vector counts when its entry in the list of contents has
been written, which happens after it; so a process may be killed at any moment. Checksums tell of disks that lost power.
"""

import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from filelock import FileLock
from torch import Tensor

from smoothpl.cli.messages import counted, inform
from smoothpl.io.atomic import PRIVATE
from smoothpl.io.cache import make_private, recall, state_of

HALF = np.dtype("<f2")
ENTRY = np.dtype([("content", "<u8", 2), ("checksum", "<u4")])
"""Of every row: 16 bytes that stand for the content of the image, and a checksum of its vector."""
Numbers = np.ndarray[Any, Any]


class Column(NamedTuple):
    """A folder with the vectors, and the list of whose they are."""

    folder: Path
    dim: int

    @property
    def vectors(self) -> Path:
        return self.folder / "vectors.f16"

    @property
    def entries(self) -> Path:
        return self.folder / "contents.bin"

    def lock(self) -> FileLock:
        return FileLock(self.folder / "lock", mode=PRIVATE)

    def rows_of(self, contents: Numbers) -> Numbers:
        """contents (N, 2) -> (N,): the row of each, -1 where there is none yet, or one that is damaged."""
        listed = self.listed()
        if not len(listed):
            return np.full(len(contents), -1)
        # Read through when it is opened first, and again when a file has changed.
        states = [state_of(self.vectors), state_of(self.entries)]
        damaged = recall("features", states, lambda: damaged_rows(self.vectors, listed, self.row_bytes))
        if damaged:
            number = counted(len(damaged), "vector is", "vectors are")
            inform(f"{os.fspath(self.vectors)!r}: {number} damaged and made again.")
            self.forget(damaged)
        return find(self.listed()["content"], contents)

    def forget(self, rows: list[int]) -> None:
        """Nobody's content: these rows are not found again."""
        with self.lock():
            entries = np.memmap(self.entries, ENTRY, mode="r+")
            entries[rows] = np.zeros((), ENTRY)
            entries.flush()

    def is_missing(self, contents: Numbers) -> Numbers:
        """(N,): whether there is no row at all; asked often while rows are made."""
        missing: Numbers = find(self.listed()["content"], contents) < 0
        return missing

    def listed(self) -> Numbers:
        """The entries of all rows that were written to the end."""
        if not (self.entries.is_file() and self.vectors.is_file()):
            return np.empty(0, ENTRY)
        size = self.entries.stat().st_size // ENTRY.itemsize
        return np.fromfile(self.entries, ENTRY, count=min(size, self.vectors.stat().st_size // self.row_bytes))

    @property
    def row_bytes(self) -> int:
        return self.dim * HALF.itemsize

    def open(self) -> Tensor:
        """(rows, dim) float16, on disk: read when it is needed."""
        if not self.vectors.is_file() or not self.vectors.stat().st_size:
            return torch.empty(0, self.dim, dtype=torch.float16)
        rows = self.vectors.stat().st_size // self.row_bytes
        # Copy on write: torch wants memory that could be written to, though nobody writes.
        return torch.from_numpy(np.memmap(self.vectors, HALF, mode="c", shape=(rows, self.dim)))

    def append(self, contents: Numbers, vectors: Tensor) -> None:
        """contents (B, 2), vectors (B, dim)."""
        rows = vectors.numpy().astype(HALF)
        entries = np.empty(len(contents), ENTRY)
        entries["content"] = contents
        entries["checksum"] = [zlib.crc32(row.tobytes()) for row in rows]
        make_private(self.folder)
        with self.lock():
            written = len(self.listed())  # what a killed process has left behind it is overwritten
            extend(self.vectors, written * self.row_bytes, rows)
            extend(self.entries, written * ENTRY.itemsize, entries)


def extend(path: Path, at: int, rows: Numbers) -> None:
    """Writes rows at the place where the good ones end; a full disk leaves those alone."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), PRIVATE)
    with open(descriptor, "r+b", buffering=0) as file:  # what a buffer holds would still come after a full disk
        try:
            file.truncate(at)
            file.seek(at)
            left = memoryview(rows.tobytes())
            while left:
                left = left[file.write(left) :]
        except OSError:
            file.truncate(at)
            raise


def damaged_rows(path: Path, listed: Numbers, row_bytes: int) -> list[int]:
    """Rows that are not as they were written."""
    with path.open("rb") as file:
        return [
            number
            for number, expected in enumerate(listed["checksum"].tolist())
            if zlib.crc32(file.read(row_bytes)) != expected and listed["content"][number].any()
        ]


def find(listed: Numbers, wanted: Numbers) -> Numbers:
    """listed (M, 2), wanted (N, 2) -> (N,): the first place of each in the list, or -1."""
    if not len(listed):
        return np.full(len(wanted), -1)
    pairs, asked = (np.ascontiguousarray(each).view("<u8,<u8").ravel() for each in (listed, wanted))
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    place = np.minimum(np.searchsorted(pairs, asked), len(pairs) - 1)
    return np.where(pairs[place] == asked, order[place], -1)
