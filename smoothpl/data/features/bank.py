"""The bank of features: every look at every image through a frozen backbone, once, kept in the user's cache.

Whoever needs vectors that are missing makes them: processes, ranks and jobs that start together take different parts of
the images, and wait for each other at the end.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from filelock import FileLock, Timeout
from rich.progress import Progress
from torch import Tensor

from smoothpl.backbones.engine import Engine
from smoothpl.cli.messages import Terminal, inform
from smoothpl.data.features.column import HALF, Column
from smoothpl.data.features.looks import Look, pixels_of
from smoothpl.data.source import Images
from smoothpl.errors import ConfigError, require
from smoothpl.io.atomic import PRIVATE
from smoothpl.io.cache import cache_dir, elsewhere, make_private
from smoothpl.io.memory import spelled

VERSION = 1
"""Changes with the way vectors are made."""
PART = 128
"""Images that are made and kept together: what a killed process loses at most."""
AT_A_TIME = 32
"""Images that go through the backbone together."""
TRIED = 16
"""Images by which the time is estimated."""
Numbers = np.ndarray[Any, Any]


class Bank(NamedTuple):
    """One backbone, and where its vectors are."""

    engine: Engine
    recipes: Mapping[str, str]  # what the looks of each kind are, in words that change with them

    @property
    def folder(self) -> Path:
        return cache_dir() / "features"

    def column(self, look: Look) -> Column:
        encoder = self.engine.encoder
        written = json.dumps([VERSION, encoder.digest, look.name, look.number, self.recipes[look.name]])
        name = f"{encoder.name}-{look.name}-{look.number}-{hashlib.sha256(written.encode()).hexdigest()[:24]}"
        return Column(self.folder / name, encoder.dim)

    def ensure(self, images: Images, contents: Numbers, looks: Sequence[Look]) -> None:
        """Makes the vectors that are missing."""
        columns = {look: self.column(look) for look in looks}
        missing = {look: column.rows_of(contents) < 0 for look, column in columns.items()}
        number = sum(int(each.sum()) for each in missing.values())
        if not number:
            return
        try:
            make_private(self.folder)
            self.check_room(number)
            fill(self, images, contents, columns, number)
        except OSError as error:
            raise ConfigError(
                f"{error.filename or self.folder}: {error.strerror}; features of images are kept there, "
                f"{self.size_of(number)} more for these: {elsewhere(error)}. What was made is kept."
            ) from error

    def vectors_of(self, pixels: Tensor) -> Tensor:
        """pixels (B, channels, height, width), bytes or floats in [0, 1] -> (B, dim) float32."""
        encoder = self.engine.encoder
        with torch.inference_mode():
            return torch.cat([self.engine(encoder.prepare(some)) for some in torch.split(pixels, AT_A_TIME)])

    def size_of(self, number: int) -> str:
        return spelled(number * self.engine.encoder.dim * HALF.itemsize)

    def check_room(self, number: int) -> None:
        free = shutil.disk_usage(self.folder).free
        require(
            number * self.engine.encoder.dim * HALF.itemsize < free,
            f"{self.folder}: the features of these images take {self.size_of(number)}, and {spelled(free)} are free; "
            "make room, use fewer backbone.views, or name another place in the environment variable XDG_CACHE_HOME.",
        )


def fill(bank: Bank, images: Images, contents: Numbers, columns: dict[Look, Column], number: int) -> None:
    """Part after part; first those that nobody else works at."""
    parts = [np.arange(start, min(start + PART, len(contents))) for start in range(0, len(contents), PART)]
    console, is_told = Terminal(stderr=True), False
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        shown = progress.add_task(f"features of {bank.engine.encoder.name}, once", total=number)
        for wait in (False, True):  # at last for parts that another process has begun, and may not have finished
            for part in parts:
                with claimed(bank.folder, contents[part], wait) as is_ours:
                    missing = missing_in(contents[part], columns) if is_ours else {}
                    if missing and not is_told:
                        tell(bank, images, contents, columns, number)
                        is_told = True
                    progress.advance(shown, make(bank, images, contents, part, missing, columns))


@contextmanager
def claimed(folder: Path, contents: Numbers, wait: bool) -> Iterator[bool]:
    """Whether a part of the images is ours to make; the claim of a process that was killed is gone with it."""
    name = hashlib.sha256(contents.tobytes()).hexdigest()[:24]
    lock = FileLock(folder / f"{name}.lock", mode=PRIVATE)
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except Timeout:
        yield False
        return
    with lock:
        yield True


def missing_in(contents: Numbers, columns: dict[Look, Column]) -> dict[Look, Numbers]:
    """Which of some images have no vector yet, look by look."""
    found = {look: column.is_missing(contents) for look, column in columns.items()}
    return {look: missing for look, missing in found.items() if missing.any()}


def make(
    bank: Bank,
    images: Images,
    contents: Numbers,
    part: Numbers,
    missing: dict[Look, Numbers],
    columns: dict[Look, Column],
) -> int:
    """Makes the vectors of a part that are missing. -> how many."""
    if not missing:
        return 0
    needed = np.logical_or.reduce([*missing.values()])
    rows = part[needed]
    pixels = pixels_of(images, torch.from_numpy(rows), contents[rows], list(missing))
    for (look, lacking), shown in zip(missing.items(), pixels, strict=True):
        chosen = lacking[needed]
        columns[look].append(contents[rows[chosen]], bank.vectors_of(shown[torch.from_numpy(chosen)]))
    return sum(int(each.sum()) for each in missing.values())


def tell(bank: Bank, images: Images, contents: Numbers, columns: dict[Look, Column], number: int) -> None:
    """How much there is to do: the time by a few images, of which the first ones do not count."""
    rows = np.arange(min(TRIED, len(contents)))
    seconds = []
    for _ in range(2):
        start = time.monotonic()
        for shown in pixels_of(images, torch.from_numpy(rows), contents[rows], list(columns)):
            bank.vectors_of(shown)
        seconds.append(time.monotonic() - start)
    about = round(min(seconds) / len(rows) / len(columns) * number)
    inform(
        f"{len(contents):,} images, {len(columns)} views of each, through {bank.engine.encoder.name} "
        f"({bank.engine.name}): about {about} s and {bank.size_of(number)}, once."
    )
