"""Work on many files at once, one process for each core.

Processes, and not threads: for small images most of the work is short calls, after each of which two threads would
fight for Python's lock, and together be slower than one of them alone.
"""

import math
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import torch
from torch.utils.data import DataLoader, Dataset

from smoothpl.io.cores import num_cores

MOST_AT_A_TIME = 256
"""Items that are handed over together: each time costs as much as decoding a few small images."""
FEW = 64
"""Fewer items than that are not worth starting processes."""
PARTS_OF_A_CORE = 4
"""Parts of the work for every core, at least: all cores are then done at about the same time."""
One = TypeVar("One")
Other = TypeVar("Other")


def in_processes(
    work: Callable[[Sequence[One]], Other], items: Sequence[One], most: int = MOST_AT_A_TIME
) -> Iterator[Other]:
    """Yields what `work` makes of some items at a time, at most `most`, in order and only a few ahead: memory does not
    grow with their number.

    `work` and its results are pickled. The processes are those of torch's loader, which end when the main process has
    been killed.
    """
    size = max(1, min(most, math.ceil(len(items) / (PARTS_OF_A_CORE * num_cores()))))
    parts = Parts(work, [items[start : start + size] for start in range(0, len(items), size)])
    if len(items) < FEW:
        yield from map(work, parts.parts)
        return
    loader = DataLoader(
        parts,
        batch_size=None,
        num_workers=num_cores(),
        prefetch_factor=2,
        collate_fn=as_it_is,
        worker_init_fn=keep_quiet,
        generator=torch.Generator(),  # else it draws from the one that a run was seeded with
    )
    for made in loader:
        if isinstance(made, OSError):
            raise made
        yield made


class Parts(Dataset[Other | OSError], Generic[One, Other]):
    def __init__(self, work: Callable[[Sequence[One]], Other], parts: Sequence[Sequence[One]]) -> None:
        self.work = work
        self.parts = parts

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, number: int) -> Other | OSError:
        try:
            return self.work(self.parts[number])
        except OSError as error:  # returned: the loader would raise one that does not name the file
            return error


def as_it_is(part: Any) -> Any:
    return part


def keep_quiet(_: int) -> None:
    """Leaves Ctrl-C, warnings and progress bars to the main process: a bar that was forked would be drawn twice, or
    wait for a thread that was not."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
