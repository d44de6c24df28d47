"""python -m benchmarks.budgets <folder>: how a short run should be set, and the error that so many CPU seconds buy.

First, settings are chosen on training images that are used for nothing else (choose_on), by fixmatch and smooth
together, so that they suit neither alone: the decay of the average, the schedule, labeled images of a step. Then
fixmatch, smooth and flexmatch are trained with what was chosen, and tested on the test set. One thread each, as many
processes as there are cores; what is finished is not trained again, so that it may be stopped and continued.
"""

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.sweeping import Done, train_below
from smoothpl.results.comparison import spread
from smoothpl.results.render import to_markdown
from smoothpl.results.runs import Run, runs_below
from smoothpl.results.sheets import Cell, Column, Sheet, plus_minus

METHODS = ("fixmatch", "smooth", "flexmatch")
CHOOSING, CHOOSING_FOLDS, FOLDS = METHODS[:2], 2, 6
GRID: Mapping[str, Sequence[str]] = {
    "ema_decay": ("0.9", "0.99", "0.999"),
    "optim.schedule": ("null", "to_zero"),
    "batch_size": ("16", "64"),
}
SPENT = "cpu_seconds.json"
COLUMNS = [
    Column("steps"),
    Column("chosen", is_number=False),
    Column("held out, %"),
    *(column for method in METHODS for column in (Column(f"{method}, %"), Column("CPU s"))),
]


class Scale(NamedTuple):
    """A task, how many of its training images choose settings, and how long its runs are."""

    name: str
    words: tuple[str, ...]
    held_out: int
    budgets: tuple[int, ...]
    rate: float | None = None  # learning rate times steps, where it is set by the length of the run

    def of_budget(self, steps: int) -> list[str]:
        rate = [] if self.rate is None else [f"optim.learning_rate={self.rate / steps:g}"]
        return [*self.words, f"max_steps={steps}", f"eval_every={steps}", *rate]


SCALES = (
    Scale("digits", ("benchmark=digits_40",), 300, (100, 300, 1000)),
    # 10,486 steps are 1 % of the paper's 2^20. The rate is that of head=fresh.
    Scale("features", ("benchmark=cifar10_40", "backbone=efficientnet_lite0"), 5000, (100, 1000, 10486), rate=1.0),
)


class Sweep(NamedTuple):
    """Runs of one process."""

    folder: Path
    words: tuple[str, ...]

    def train(self) -> Done:
        """Its CPU seconds are kept if it has made all of its runs."""
        begun = any(self.folder.rglob("run.json"))
        done = train_below(self.folder, self.words)
        if not begun and done.code == 0:
            (self.folder / SPENT).write_text(json.dumps(done.seconds))
        return done


def to_choose(folder: Path) -> Iterator[Sweep]:
    for scale in SCALES:
        for steps in scale.budgets:
            grid = [f"{name}={','.join(values)}" for name, values in GRID.items()]
            chosen_on = f"choose_on={scale.held_out}"
            for method in CHOOSING:
                words = (*scale.of_budget(steps), f"method={method}", chosen_on, f"fold=range({CHOOSING_FOLDS})", *grid)
                yield Sweep(place(folder, "choose", scale, steps) / method, words)


def to_test(folder: Path) -> Iterator[Sweep]:
    for scale in SCALES:
        for steps in scale.budgets:
            settings, _ = chosen(place(folder, "choose", scale, steps))
            for method in METHODS:
                words = (*scale.of_budget(steps), f"method={method}", f"fold=range({FOLDS})", *settings)
                yield Sweep(place(folder, "test", scale, steps) / method, words)


def place(folder: Path, stage: str, scale: Scale, steps: int) -> Path:
    return folder / stage / f"{scale.name}_{steps}"


def chosen(folder: Path) -> tuple[list[str], float]:
    """The settings with the lowest mean error on held-out images, over methods and folds; the first of equals."""
    errors: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for run in runs_below([folder]):
        if run.counts and run.error is not None:
            errors[setting_of(run)].append(run.error)
    complete = {words: found for words, found in errors.items() if len(found) == len(CHOOSING) * CHOOSING_FOLDS}
    if not complete:
        raise SystemExit(f"{folder} has no setting of which all runs are finished; run this command again.")
    best = min(sorted(complete), key=lambda words: spread(complete[words]).mean)
    return [*best], spread(complete[best]).mean


def setting_of(run: Run) -> tuple[str, ...]:
    values = {name: run.knobs.get(name) for name in GRID}
    return tuple(f"{name}={'null' if value is None else f'{value}'}" for name, value in values.items())


def table(folder: Path, scale: Scale) -> Sheet:
    rows = []
    for steps in scale.budgets:
        settings, held_out = chosen(place(folder, "choose", scale, steps))
        row = [Cell(f"{steps:,}"), Cell(" ".join(settings)), Cell(f"{held_out:.2f}")]
        for method in METHODS:
            row += cells(place(folder, "test", scale, steps) / method)
        rows.append(row)
    return Sheet(scale.name, COLUMNS, rows)


def cells(sweep: Path) -> list[Cell]:
    """Mean and deviation of the error, and CPU seconds of a run, its share of the start included."""
    errors = [run.error for run in runs_below([sweep]) if run.counts and run.error is not None]
    if len(errors) < FOLDS:
        return [Cell(f"{len(errors)} of {FOLDS} runs"), Cell("")]
    around, spent = spread(errors), sweep / SPENT
    seconds = f"{json.loads(spent.read_text()) / FOLDS:.0f}" if spent.is_file() else ""
    return [plus_minus(around.mean, around.std), Cell(seconds)]


def train_all(sweeps: Sequence[Sweep]) -> None:
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for sweep, done in zip(sweeps, pool.map(Sweep.train, sweeps), strict=True):
            sys.stdout.write(f"{sweep.folder.parent.name}/{sweep.folder.name}: {done.described(sweep.folder)}\n")
            sys.stdout.flush()


def main(folder: Path) -> None:
    train_all([*to_choose(folder)])
    train_all([*to_test(folder)])
    sys.stdout.write("\n".join(map(to_markdown, map(partial(table, folder), SCALES))))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]).absolute())
