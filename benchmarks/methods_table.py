"""python -m benchmarks.methods_table <folder> ...: what benchmarks.all_methods has trained, one table a folder.

Each row is a method as published and, beside it, its smooth version: mean and deviation of the last error over the
folds. Gains are paired by fold: mean, bootstrap interval, and on how many folds the error was lower and higher. Nothing
is chosen here: every method that was trained has a row, and runs that are missing are counted.
"""

import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.all_methods import FOLDS
from smoothpl.layout import REFUSED_JOBS
from smoothpl.results.comparison import Comparison, compare, spread
from smoothpl.results.render import to_markdown
from smoothpl.results.runs import find_runs
from smoothpl.results.sentences import count
from smoothpl.results.sheets import Cell, Column, Sheet, plus_minus

BASELINE, LABELS_ALONE = "fixmatch", "supervised"
REFERENCES = (BASELINE, LABELS_ALONE)
COLUMNS = [
    Column("method", is_number=False),
    Column("error, %"),
    Column("gain over fixmatch"),
    Column("gain over labels alone"),
    Column("smooth with", is_number=False),
    Column("its error, %"),
    Column("gain over the published"),
]
NOTHING = Cell("")
Errors = dict[int, float]
"""Of each fold."""


class Pair(NamedTuple):
    """The folders of a method as published, and of its smooth version if that is another one."""

    name: str
    published: Path
    smooth: Path | None

    @property
    def added(self) -> str:
        """What makes it smooth."""
        return "" if self.smooth is None else self.smooth.name.partition(",")[2].replace(",", " ")


def pairs_in(folder: Path) -> list[Pair]:
    """Labels alone and the baseline first, then by name."""
    names = sorted(path.name for path in folder.iterdir() if path.is_dir())
    published = [name for name in names if "," not in name]
    smooth = {name.partition(",")[0]: folder / name for name in names if "," in name}
    published.sort(key=lambda each: (each != LABELS_ALONE, each != BASELINE, each))
    return [Pair(name, folder / name, smooth.get(name)) for name in published]


def errors_of(sweep: Path | None) -> Errors:
    """Of the finished runs below a folder."""
    runs = [] if sweep is None else find_runs([sweep])
    return {run.fold: run.error for run in runs if run.counts and run.error is not None}


def gain(errors: Errors, reference: Errors) -> Comparison | None:
    common = sorted({*errors} & {*reference})
    return compare([reference[fold] - errors[fold] for fold in common]) if common else None


def table(folder: Path) -> Sheet:
    pairs = pairs_in(folder)
    references = {pair.name: errors_of(pair.published) for pair in pairs}
    rows, gains = [], []
    for pair in pairs:
        published, smooth = references[pair.name], errors_of(pair.smooth)
        against = {name: gain(published, references[name]) for name in REFERENCES if name in references}
        by_smoothing = gain(smooth, published)
        gains += [] if by_smoothing is None else [by_smoothing]
        cells = [gain_cell(against.get(name)) for name in REFERENCES]
        added = Cell(pair.added or ("" if pair.name == LABELS_ALONE else "as published"))
        of_smooth = [added, error_cell(smooth, pair.smooth), gain_cell(by_smoothing)]
        rows.append([Cell(pair.name), error_cell(published, pair.published), *cells, *of_smooth])
    return Sheet(folder.name, COLUMNS, rows, summary(gains))


def summary(gains: list[Comparison]) -> list[str]:
    """How often smoothing lowers the mean error: a count, because runs of one fold are not independent."""
    if not gains:
        return []
    means = [each.spread.mean for each in gains]
    lower, higher = sum(mean > 0 for mean in means), sum(mean < 0 for mean in means)
    return [
        f"Of {count(len(gains), 'method')} with another, smooth version, {lower} have a lower mean error with it and "
        f"{higher} a higher one; the mean of these gains is {spread(means).mean:z.2f} points."
    ]


def error_cell(errors: Errors, sweep: Path | None) -> Cell:
    """Empty where there is no such sweep; refused, where the method does not go with the task."""
    if not errors:
        return Cell("refused") if sweep is not None and (sweep / REFUSED_JOBS).is_file() else NOTHING
    around = spread([*errors.values()])
    cell = plus_minus(around.mean, around.std)
    return cell if len(errors) == FOLDS else cell._replace(text=f"{cell.text} ({count(len(errors), 'run')})")


def gain_cell(comparison: Comparison | None) -> Cell:
    """The mean, its bootstrap interval, and on how many folds the error was lower and higher."""
    if comparison is None:
        return NOTHING
    low, high = comparison.interval or (comparison.spread.min, comparison.spread.max)
    wins = f"{comparison.wins}-{comparison.losses}"
    return Cell(f"{comparison.spread.mean:z.2f} ({low:z.2f}…{high:z.2f}), {wins}", comparison.spread.mean)


def main(folders: list[Path]) -> None:
    sys.stdout.write("\n".join(to_markdown(table(folder)) for folder in folders))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main([Path(each) for each in sys.argv[1:]])
