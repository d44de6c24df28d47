"""Work on many files at once."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

AT_A_TIME = 32
"""Items of one thread."""
One = TypeVar("One")
Other = TypeVar("Other")


def in_threads(work: Callable[[One], Other], items: Sequence[One]) -> Iterator[Other]:
    """In order, a few ahead: memory does not grow with the number of items. Decoding does not hold Python's lock; what
    does is little, because threads take some items at a time."""
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        starts = iter(range(0, len(items), AT_A_TIME))

        def begin(number: int) -> list[Future[list[Other]]]:
            parts = [items[start : start + AT_A_TIME] for start in islice(starts, number)]
            return [pool.submit(lambda part: [work(item) for item in part], part) for part in parts]

        waiting = deque(begin(4 * threads))
        while waiting:
            yield from waiting.popleft().result()
            waiting += begin(1)
