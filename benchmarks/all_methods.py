"""python -m benchmarks.all_methods <folder> [knob=value ...]: every method and its smooth version, over six folds.

Each is a sweep of its own below the folder, as many at a time as there are cores, each with one thread; what is
finished is not trained again, so that it may be stopped and continued. The tables are made by `smoothpl report`:

  python -m benchmarks.all_methods outputs/all_methods/digits_40
  python -m benchmarks.all_methods outputs/all_methods/features benchmark=cifar10_40 backbone=efficientnet_lite0
  smoothpl report outputs/all_methods/digits_40
  smoothpl report outputs/all_methods/digits_40 baseline=supervised
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.sweeping import Done, train_below
from smoothpl.config.compose import compose_checked
from smoothpl.config.describe import options
from smoothpl.run.methods import of_smooth, ways_out
from smoothpl.run.methods import reasons as reasons_of

FOLDS = 6
SMOOTH_ALREADY = ("smooth", "smooth_sqrt", "smooth_square")
"""Their own smooth versions."""


class Sweep(NamedTuple):
    """One recipe over all folds."""

    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return ",".join(word.replace("method=", "") for word in self.words).replace("/", "_")

    def train(self, folder: Path, further: Sequence[str]) -> Done:
        return train_below(folder / self.name, (*self.words, f"fold=range({FOLDS})", *further))


def sweeps() -> Iterator[Sweep]:
    """Labels alone first; a method that is C1 as published has no other version."""
    for name in sorted(options("method"), key=lambda each: (each != "supervised", each)):
        published = compose_checked([f"method={name}"])
        if name == "fully_supervised":
            continue
        yield Sweep((f"method={name}",))
        if published.policy is not None and name not in SMOOTH_ALREADY and reasons_of(published):
            yield Sweep(tuple(of_smooth(name, *ways_out(name))))


def main(folder: Path, further: Sequence[str] = ()) -> None:
    wanted = list(sweeps())
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        began = time.monotonic()
        done = pool.map(partial(Sweep.train, folder=folder, further=further), wanted)
        for number, (sweep, one) in enumerate(zip(wanted, done, strict=True), 1):
            minutes, outcome = (time.monotonic() - began) / 60, one.described(folder / sweep.name)
            sys.stdout.write(f"{number}/{len(wanted)} {sweep.name}: {outcome}, {minutes:.1f} minutes\n")
            sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) < 2 or "=" in sys.argv[1]:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]).absolute(), sys.argv[2:])
