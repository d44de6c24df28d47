"""python -m benchmarks.level <folder> [knob=value ...]: are errors in bfloat16 level with those in 32 bits?

The same folds are trained in both, and with forward=split as well, each run in a process of its own with one thread;
what is finished is not trained again. Gains are paired by fold, in points of error: above 0, what is faster errs less.

  python -m benchmarks.level outputs/level/digits_40
  python -m benchmarks.level outputs/level/features benchmark=cifar10_40 backbone=efficientnet_lite0
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from smoothpl.record.record import read
from smoothpl.results.comparison import Comparison, compare, spread
from smoothpl.results.render import to_markdown
from smoothpl.results.sheets import Cell, Column, Sheet, plus_minus

FOLDS = 6
EXACT = "trainer.precision=32-true"
FASTER = ("trainer.precision=bf16-mixed", "trainer.precision=bf16-mixed forward=split")
COLUMNS = [
    Column("computed with", is_number=False),
    Column("error, %"),
    Column("gain over 32 bits"),
    Column("lower, higher on"),
]


def main(folder: Path, further: Sequence[str] = ()) -> None:
    errors: dict[str, list[float]] = {kind: [] for kind in (EXACT, *FASTER)}
    for fold in range(FOLDS):  # all kinds of one fold, then the next: stopped at any time, pairs are whole
        for kind, found in errors.items():
            found.append(error_of(folder / kind.replace(" ", ","), fold, (*kind.split(), *further)))
            sys.stdout.write(f"fold {fold}, {kind}: {found[-1]:.2f} %\n")
            sys.stdout.flush()
    sys.stdout.write(f"\n{to_markdown(table(folder.name, errors))}")


def error_of(place: Path, fold: int, words: Sequence[str]) -> float:
    run_dir = place / f"fold={fold}"
    kept = (f"hydra.run.dir={run_dir}", "resume=auto", "pictures=false", "callbacks.progress=null")
    command = [sys.executable, "-m", "smoothpl.train", f"fold={fold}", *words, *kept]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "1"})
    error = read(run_dir).error
    assert error is not None
    return error


def table(title: str, errors: dict[str, list[float]]) -> Sheet:
    exact = errors[EXACT]
    rows = [[Cell(EXACT), error_cell(exact), *2 * [Cell("")]]]
    for kind in FASTER:
        found = compare([one - other for one, other in zip(exact, errors[kind], strict=True)])
        rows.append([Cell(kind), error_cell(errors[kind]), *gain_cells(found)])
    return Sheet(title, COLUMNS, rows)


def error_cell(errors: list[float]) -> Cell:
    around = spread(errors)
    return plus_minus(around.mean, around.std)


def gain_cells(found: Comparison) -> list[Cell]:
    """The mean with its bootstrap interval, and on how many folds the error was lower and higher."""
    low, high = found.interval or (found.spread.min, found.spread.max)
    mean = Cell(f"{found.spread.mean:z.2f} ({low:z.2f}…{high:z.2f})", found.spread.mean)
    return [mean, Cell(f"{found.wins}, {found.losses} of {found.spread.n}")]


if __name__ == "__main__":
    if len(sys.argv) < 2 or "=" in sys.argv[1]:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]).absolute(), sys.argv[2:])
