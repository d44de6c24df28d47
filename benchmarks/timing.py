"""How long things take, compared within one run: what is compared takes turns, and the fastest turn of each counts."""

import time
from collections.abc import Callable

import torch


def compare(*jobs: Callable[[], object], turns: int = 15, seconds: float = 0.2) -> list[float]:
    """CPU seconds of one call of each job, on one core. The fastest turn: others can only slow a machine down."""
    torch.set_num_threads(1)
    for job in jobs:
        job()  # memory is allocated, caches are filled
    best = [float("inf")] * len(jobs)
    for _ in range(turns):
        for number, job in enumerate(jobs):
            calls, start = 0, time.process_time()
            while time.process_time() - start < seconds:
                job()
                calls += 1
            best[number] = min(best[number], (time.process_time() - start) / calls)
    return best
