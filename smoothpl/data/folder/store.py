"""Decoded images on disk: rows of a file that is mapped into memory, made by all cores."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from filelock import FileLock, Timeout
from rich.console import Console
from rich.progress import Progress
from torch import Tensor

from smoothpl.data.decode import decode_safely
from smoothpl.data.frames import CentralCrop
from smoothpl.errors import ConfigError
from smoothpl.io.atomic import put
from smoothpl.io.processes import FEW, MOST_AT_A_TIME, in_processes

One = TypeVar("One")
Made = TypeVar("Made")
Numbers = np.ndarray[Any, Any]


class Store(NamedTuple):
    """Images in a file, each content once, and beside it a note of what they are."""

    path: Path

    @property
    def note(self) -> Path:
        return self.path.with_suffix(".json")

    @property
    def lock(self) -> Path:
        return self.path.with_suffix(".lock")

    @property
    def is_there(self) -> bool:
        return self.path.is_file() and self.note.is_file()

    def read(self) -> "Stored":
        note = json.loads(self.note.read_text())
        # Copy on write: torch wants memory that could be written to, though nobody writes.
        return Stored(torch.from_numpy(np.load(self.path, mmap_mode="c")), note["order"], {*note["bad"]})


class Stored(NamedTuple):
    """images (M, 3, size, size) uint8, the contents row by row, and the rows of files that are not images."""

    images: Tensor
    order: list[str]
    bad: set[int]


def make(store: Store, paths: dict[str, Path], size: int) -> None:
    """Decodes what no other store has, copies the rest, and removes stores that have nothing else: a folder that grows
    has one. `paths` are by content."""
    order, others = list(paths), other_stores(store)
    draft = store.path.with_suffix(".draft")
    try:
        images = np.lib.format.open_memmap(draft, mode="w+", dtype=np.uint8, shape=(len(order), 3, size, size))
        reserve(draft)
        missing = {digest: row for row, digest in enumerate(order)}
        for other in others.values():
            theirs = [row for row, digest in enumerate(other.order) if digest in missing and row not in other.bad]
            copy(images, [missing.pop(other.order[row]) for row in theirs], other.images.numpy(), theirs)
        bad = fill(draft, [(row, paths[digest]) for digest, row in missing.items()])
        store.note.write_text(json.dumps({"order": order, "bad": bad}))
        put(draft, store.path)
    finally:
        draft.unlink(missing_ok=True)
    for place, other in others.items():
        if {*other.order} <= {*order}:
            remove(place)


def other_stores(store: Store) -> dict[Store, Stored]:
    found = {}
    for path in store.path.parent.glob("*.npy"):
        with suppress(OSError, ValueError, KeyError):  # removed just now by another process, or damaged
            found[Store(path)] = Store(path).read()
    return found


def reserve(path: Path) -> None:
    """Finds a full disk now: later a signal would end the process when a page cannot be written."""
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def remove(store: Store) -> None:
    """Removes a store unless another process is about to open it; one that has it open keeps it."""
    with suppress(Timeout), FileLock(store.lock, timeout=0):
        store.path.unlink(missing_ok=True)
        store.note.unlink(missing_ok=True)


def copy(images: Numbers, rows: Sequence[int], others: Numbers, theirs: Sequence[int]) -> None:
    """Copies some rows at a time: all of them may be larger than memory."""
    for start in range(0, len(rows), MOST_AT_A_TIME):
        images[rows[start : start + MOST_AT_A_TIME]] = others[theirs[start : start + MOST_AT_A_TIME]]


def fill(draft: Path, files: Sequence[tuple[int, Path]]) -> list[int]:
    """Decodes files, each into its row. -> the rows of those that are not images."""
    bad: list[int] = []
    with Progress(console=Console(stderr=True), disable=len(files) < FEW) as progress:
        shown = progress.add_task("decoding images, once", total=len(files))
        for number, some_bad in read_by(partial(decode_into, draft), files):
            bad += some_bad
            progress.advance(shown, number)
    return bad


def decode_into(draft: Path, files: Sequence[tuple[int, Path]]) -> tuple[int, list[int]]:
    """Decodes into memory that all processes share. -> how many files, and the rows of those that are not images."""
    images = np.lib.format.open_memmap(draft, mode="r+")
    frame, nothing, bad = CentralCrop(images.shape[-1], share=1.0), torch.empty(0), []
    for row, path in files:
        try:
            images[row] = frame(decode_safely(path), nothing).numpy()
        except ValueError:
            bad.append(row)
    return len(files), bad


def read_by(work: Callable[[Sequence[One]], Made], items: Sequence[One]) -> Iterator[Made]:
    """Runs `work` in processes; a file that cannot be opened at all is an error for the user to correct."""
    try:
        yield from in_processes(work, items)
    except OSError as error:
        raise ConfigError(
            f"{error.filename} cannot be read ({error.strerror}); correct its permissions, or move it elsewhere."
        ) from error
