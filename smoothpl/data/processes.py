"""Work on many files at once, one process for each core.

Processes, and not threads: for small images most of the work is short calls, after each of which two threads would
fight for Python's lock, and together be slower than one of them alone.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from torch.utils.data import DataLoader, Dataset

AT_A_TIME = 256
"""Items that are handed over together: each time costs as much as decoding a few small images."""
FEW = 512
"""Items that are done sooner than processes begin."""
One = TypeVar("One")
Other = TypeVar("Other")


def in_processes(work: Callable[[Sequence[One]], Other], items: Sequence[One]) -> Iterator[Other]:
    """Of every `AT_A_TIME` items in turn, what `work` makes of them; a few ahead: memory does not grow with the items.

    `work` and what it gives are pickled. By torch's loader, because its workers see when the main process has been
    killed, and end.
    """
    parts = Parts(work, items)
    if len(items) < FEW:
        yield from map(work, parts.cut())
        return
    settings: dict[str, Any] = {"num_workers": num_cores(), "prefetch_factor": 2, "worker_init_fn": leave_interruptions}
    for made in DataLoader(parts, batch_size=None, collate_fn=as_it_is, **settings):
        if isinstance(made, OSError):
            raise made
        yield made


class Parts(Dataset[Other | OSError], Generic[One, Other]):
    def __init__(self, work: Callable[[Sequence[One]], Other], items: Sequence[One]) -> None:
        self.work = work
        self.items = items

    def cut(self) -> list[Sequence[One]]:
        return [self.items[start : start + AT_A_TIME] for start in range(0, len(self.items), AT_A_TIME)]

    def __len__(self) -> int:
        return len(self.cut())

    def __getitem__(self, number: int) -> Other | OSError:
        try:
            return self.work(self.items[number * AT_A_TIME : (number + 1) * AT_A_TIME])
        except OSError as error:  # handed over: the loader would raise one that has forgotten which file it was
            return error


def num_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def as_it_is(part: Any) -> Any:
    return part


def leave_interruptions(_: int) -> None:
    """To the main process: Ctrl-C goes to all of them, and one of them is enough to say so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
