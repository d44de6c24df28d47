"""Images of one's own, decoded and brought to one size once: rows of a file that is mapped into memory.

What was decoded is known by the contents of the files, so that moving, renaming or copying them costs nothing; it lies
in the cache of the user, never beside the images.
"""

import hashlib
import json
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from filelock import FileLock
from PIL import Image
from rich.progress import Progress
from torch import Tensor

from smoothpl.data.checksums import cache_dir, recall
from smoothpl.data.frames import CentralCrop
from smoothpl.data.pictures import decode
from smoothpl.data.processes import AT_A_TIME, in_processes
from smoothpl.errors import ConfigError
from smoothpl.files import digest_of, put

VERSION = 1
"""Of how images are decoded: another one decodes them anew."""
MOST_PIXELS = Image.MAX_IMAGE_PIXELS or 2**26
"""Of one image: a file of a few kilobytes can unpack to gigabytes. Pillow begins to warn here."""
WORTH_SHOWING = 1000
"""Images whose decoding takes long enough for a progress bar."""


class Decoded(NamedTuple):
    """images (M, 3, size, size) uint8, on disk, one row for each content; and which row every file has."""

    images: Tensor
    row: Tensor  # (N,); -1 for a file that is no image
    digests: list[str]  # of every file: its content


class Rows(NamedTuple):
    """Some of the decoded images, in an order of their own: read from the disk when they are needed."""

    images: Tensor
    row: Tensor
    labels: Tensor

    @property
    def same_size(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: Tensor, frame: object, draws: object) -> list[Tensor]:
        return [self.images[self.row[index]]]


def decode_all(paths: Sequence[Path], size: int) -> Decoded:
    """Two processes that start at once decode once; one that is killed leaves nothing half done."""
    digests = contents(paths)
    order = sorted({*digests})
    name = hashlib.sha256(json.dumps([VERSION, size, order]).encode()).hexdigest()[:32]
    folder = cache_dir() / "decoded"
    store, note = folder / f"{name}.npy", folder / f"{name}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f"{name}.lock"):
            if not store.is_file():
                first = dict(zip(reversed(digests), reversed(paths), strict=True))
                bad = fill(store, [first[digest] for digest in order], size)
                note.write_text(json.dumps([order[number] for number in bad]))
                put(store.with_suffix(".draft"), store)
    except OSError as error:
        needed = f"{len(order) * 3 * size**2 / 1e6:,.0f} MB"
        raise ConfigError(
            f"{error.filename or folder}: {error.strerror}; decoded images are kept there, {needed} for these: make "
            "room, or name another place in the environment variable XDG_CACHE_HOME."
        ) from error
    bad_ones = {*json.loads(note.read_text())}
    place = {digest: number for number, digest in enumerate(order)}
    row = torch.tensor([-1 if digest in bad_ones else place[digest] for digest in digests])
    # Copy on write: torch wants memory that could be written to, and nobody does.
    return Decoded(torch.from_numpy(np.load(store, mmap_mode="c")), row, digests)


def contents(paths: Sequence[Path]) -> list[str]:
    """A digest of every file."""
    return recall("contents", paths, lambda: list(chain.from_iterable(in_processes(digests_of, paths))))


def digests_of(paths: Sequence[Path]) -> list[str]:
    return [digest_of(path) for path in paths]


def fill(store: Path, paths: Sequence[Path], size: int) -> list[int]:
    """Writes the images to a draft of the store, row by row. -> the numbers of the files that are no images."""
    draft = store.with_suffix(".draft")
    with draft.open("wb") as file:
        shape = (len(paths), 3, size, size)
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": shape})
        bad: list[int] = []
        with Progress(disable=len(paths) < WORTH_SHOWING) as progress:
            shown = progress.add_task("decoding images, once", total=len(paths))
            for number, (rows, some_bad) in enumerate(in_processes(partial(seen, CentralCrop(size, share=1.0)), paths)):
                file.write(rows)
                bad += [number * AT_A_TIME + each for each in some_bad]
                progress.advance(shown, AT_A_TIME)
    return bad


def seen(frame: CentralCrop, paths: Sequence[Path]) -> tuple[bytes, list[int]]:
    """Images (M, 3, size, size), black ones for files that are none; and the numbers of these."""
    rows = np.zeros((len(paths), 3, frame.size, frame.size), dtype=np.uint8)
    bad = []
    for number, path in enumerate(paths):
        try:
            rows[number] = frame(decode_safely(path), torch.empty(0)).numpy()
        except ValueError:
            bad.append(number)
    return rows.tobytes(), bad


def decode_safely(path: Path) -> Tensor:
    """For files of strangers, which may say that they are larger than any image that is meant."""
    return decode(path, MOST_PIXELS)
