"""Decoded images on disk: rows of a file that is mapped into memory, made by all cores."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from filelock import FileLock, Timeout
from rich.progress import Progress
from torch import Tensor

from smoothpl.cli.messages import Terminal, inform
from smoothpl.data.decode import MOST_PIXELS, decode_with_remarks
from smoothpl.data.frames import CentralCrop
from smoothpl.errors import ConfigError
from smoothpl.io.atomic import PRIVATE, create, put
from smoothpl.io.cache import read_note, write_note
from smoothpl.io.checksums import compute_crc, crc_of
from smoothpl.io.processes import FEW, MOST_AT_A_TIME, in_processes

One = TypeVar("One")
Made = TypeVar("Made")
Numbers = np.ndarray[Any, Any]
DAMAGED = (ValueError, KeyError, TypeError, EOFError)
"""What comes of files that are not as they were written."""


class Store(NamedTuple):
    """Images in a file, each content once, and beside it a note of what they are."""

    path: Path

    @property
    def note(self) -> Path:
        return self.path.with_suffix(".json")

    @property
    def lock(self) -> Path:
        return self.path.with_suffix(".lock")

    def read(self) -> "Stored":
        """One of DAMAGED if it is that: both files must be as they were written.

        The note and the dims are checked every time; the pixels when they are opened first, and again when their file
        has changed.
        """
        note = read_note(self.note)
        # Copy on write: torch wants memory that could be written to, though nobody writes.
        images = np.load(self.path, mmap_mode="c")
        if [str(images.dtype), *images.shape] != note["dims"] or crc_of(self.path) != note["checksum"]:
            raise ValueError(f"{self.path.name} is not as it was written")
        bad = {int(row): why for row, why in note["bad"].items()}
        return Stored(torch.from_numpy(images), note["order"], bad, note["remarks"])

    def read_if_whole(self) -> "Stored | None":
        """None if it is not there, or damaged, which is said."""
        if not (self.path.is_file() and self.note.is_file()):
            return None
        try:
            return self.read()
        except DAMAGED as error:
            inform(f"{os.fspath(self.path)!r} is damaged ({error}) and is made again.")
            return None


class Stored(NamedTuple):
    """images (M, 3, size, size) uint8, the contents row by row, why some rows are not images, and remarks on others."""

    images: Tensor
    order: list[str]
    bad: dict[int, str]
    remarks: dict[str, list[int]]  # how images of more than 8 bits were scaled, and the like


def make(store: Store, paths: dict[str, Path], size: int) -> None:
    """Decodes what no other store has, copies the rest, and removes stores that have nothing else: a folder that grows
    has one. `paths` are by content."""
    order, others = list(paths), other_stores(store)
    draft = store.path.with_suffix(".draft")
    try:
        os.close(create(draft, PRIVATE))
        images = np.lib.format.open_memmap(draft, mode="w+", dtype=np.uint8, shape=(len(order), 3, size, size))
        reserve(draft)
        missing, findings = {digest: row for row, digest in enumerate(order)}, Findings({}, {})
        for other in others.values():
            theirs = [row for row, digest in enumerate(other.order) if digest in missing and row not in other.bad]
            ours = [missing.pop(other.order[row]) for row in theirs]
            copy(images, ours, other.images.numpy(), theirs)
            findings.take_over(other, dict(zip(theirs, ours, strict=True)))
        fill(draft, [(row, paths[digest]) for digest, row in missing.items()], findings)
        images.flush()
        dims = [str(images.dtype), *images.shape]
        write_note(store.note, {"order": order, "dims": dims, "checksum": compute_crc(draft), **findings._asdict()})
        put(draft, store.path)
    finally:
        draft.unlink(missing_ok=True)
    for place, other in others.items():
        if {*other.order} <= {*order}:
            remove(place)


def other_stores(store: Store) -> dict[Store, Stored]:
    found = {}
    for path in store.path.parent.glob("*.npy"):
        with suppress(OSError, *DAMAGED):  # removed just now by another process, or damaged
            found[Store(path)] = Store(path).read()
    found.pop(store, None)
    return found


class Findings(NamedTuple):
    """What is found while files are decoded, by row."""

    bad: dict[int, str]  # why it is not an image
    remarks: dict[str, list[int]]

    def add(self, more: "Findings") -> None:
        self.bad.update(more.bad)
        for remark, rows in more.remarks.items():
            self.remarks.setdefault(remark, []).extend(rows)

    def take_over(self, other: Stored, rows: dict[int, int]) -> None:
        """Remarks on rows of another store, which are copied to rows of ours."""
        for remark, theirs in other.remarks.items():
            self.add(Findings({}, {remark: [rows[row] for row in theirs if row in rows]}))


def reserve(path: Path) -> None:
    """Finds a full disk now: later a signal would end the process when a page cannot be written."""
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def remove(store: Store) -> None:
    """Removes a store unless another process is about to open it; one that has it open keeps it."""
    with suppress(Timeout), FileLock(store.lock, timeout=0, mode=PRIVATE):
        store.path.unlink(missing_ok=True)
        store.note.unlink(missing_ok=True)


def copy(images: Numbers, rows: Sequence[int], others: Numbers, theirs: Sequence[int]) -> None:
    """Copies some rows at a time: all of them may be larger than memory."""
    for start in range(0, len(rows), MOST_AT_A_TIME):
        images[rows[start : start + MOST_AT_A_TIME]] = others[theirs[start : start + MOST_AT_A_TIME]]


def fill(draft: Path, files: Sequence[tuple[int, Path]], findings: Findings) -> None:
    """Decodes files, each into its row."""
    with Progress(console=Terminal(stderr=True), disable=len(files) < FEW) as progress:
        shown = progress.add_task("decoding images, once", total=len(files))
        for number, found in read_by(partial(decode_into, draft), files):
            findings.add(found)
            progress.advance(shown, number)


def decode_into(draft: Path, files: Sequence[tuple[int, Path]]) -> tuple[int, Findings]:
    """Decodes into memory that all processes share. -> how many files, and what was found."""
    images = np.lib.format.open_memmap(draft, mode="r+")
    frame, nothing, found = CentralCrop(images.shape[-1], share=1.0), torch.empty(0), Findings({}, {})
    for row, path in files:
        try:
            pixels, remarks = decode_with_remarks(path, MOST_PIXELS)
        except ValueError as error:
            found.add(Findings({row: str(error)}, {}))
            continue
        images[row] = frame(pixels, nothing).numpy()
        found.add(Findings({}, {remark: [row] for remark in remarks}))
    return len(files), found


def read_by(work: Callable[[Sequence[One]], Made], items: Sequence[One]) -> Iterator[Made]:
    """Runs `work` in processes; a file that cannot be opened at all is an error for the user to correct."""
    try:
        yield from in_processes(work, items)
    except OSError as error:
        raise ConfigError(
            f"{error.filename} cannot be read ({error.strerror}); correct its permissions, or move it elsewhere."
        ) from error
