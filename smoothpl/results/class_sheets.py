"""Errors class by class, from the head to the tail, and the balanced error, where classes are not equally frequent."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import torch
from torch import Tensor

from smoothpl.metrics.confusion import balanced_error, class_accuracy
from smoothpl.results.comparison import Statistics, spread
from smoothpl.results.pairing import Row, pair
from smoothpl.results.report_sheets import comparison_sheet
from smoothpl.results.runs import Run
from smoothpl.results.sheets import Cell, Column, Sheet, number, plus_minus
from smoothpl.results.tables import Table

UNEVEN = 1.5
"""Times as many images of one class as of another, from which on classes are looked at one by one."""
MOST_ROWS = 20
"""Classes that a terminal shows all of."""
OF_AN_END = 8
"""Classes at the head and at the tail that it shows of more."""
BALANCED = "balanced error"
LAST = "The balanced error is the mean of the classes' errors; all are of the last checkpoint."


@dataclass(frozen=True)
class Sizes:
    """How many images of each class there are, (C,) each; empty where it is not known."""

    labeled: Sequence[float]
    unlabeled: Sequence[float]
    tested: Sequence[float]

    @property
    def is_uneven(self) -> bool:
        return any(self.parts[name] and uneven(self.parts[name]) for name in self.parts)

    @property
    def parts(self) -> dict[str, Sequence[float]]:
        return {"labels": self.labeled, "unlabeled": self.unlabeled, "tested": self.tested}

    @property
    def deciding(self) -> str:
        """What says which class is the head: labels, if they are uneven, then unlabeled and test images."""
        return next((name for name, counts in self.parts.items() if counts and uneven(counts)), "tested")

    @property
    def order(self) -> list[int]:
        """Classes from the head to the tail."""
        counts = self.parts[self.deciding]
        return sorted(range(len(counts)), key=lambda c: -counts[c])


def uneven(counts: Sequence[float]) -> bool:
    return max(counts) > UNEVEN * min(counts)


def sizes_of(run: Run) -> Sizes:
    return Sizes(run.labeled_per_class, run.unlabeled_per_class, confusion_of(run).sum(dim=1).tolist())


def confusion_of(run: Run) -> Tensor:
    """(C, C) counts."""
    return torch.tensor(run.confusion).view(len(run.class_names), -1)


def class_sheets(table: Table, statistics: Statistics) -> Iterator[Sheet]:
    """For every split of the table with uneven classes: errors by class, and balanced errors against the baseline."""
    by_split: dict[tuple[tuple[str, str], ...], list[Row]] = defaultdict(list)
    for row in table.rows:
        tested = {key: run for key, run in row.runs.items() if len(run.confusion)}
        if tested and not row.kind.is_of_paper:
            knobs = tuple((key, repr(row.knobs[key])) for key in sorted(row.knobs) if key.startswith("split."))
            by_split[knobs].append(replace(row, runs=tested, partner=None, comparison=None, p_holm=None))
    common = set.intersection(*map(set, by_split)) if by_split else set()
    for knobs, rows in by_split.items():
        runs = [run for row in rows for run in row.runs.values()]
        if len({run.class_names for run in runs}) == 1 and any(sizes_of(run).is_uneven for run in runs):
            special = "".join(f", {key}={value}" for key, value in knobs if (key, value) not in common)
            yield class_sheet(f"{table.place}{special}: error of each class, %", rows)
            balanced = Table(table.place, [with_balanced_errors(row) for row in rows], table.baseline)
            pair(balanced, statistics)
            against = comparison_sheet(balanced)
            if against is not None:
                against.title = f"{table.place}{special}: {BALANCED}, against {table.baseline}"
                yield against


def with_balanced_errors(row: Row) -> Row:
    runs = {key: replace(run, error=balanced_error(confusion_of(run))) for key, run in row.runs.items()}
    return replace(row, runs=runs)


def class_sheet(title: str, rows: Sequence[Row]) -> Sheet:
    """A row for each class, a column for each recipe; the last row is the balanced error."""
    runs = [run for row in rows for run in row.runs.values()]
    sizes, differ = mean_sizes([sizes_of(run) for run in runs])
    known = {name: counts for name, counts in sizes.parts.items() if counts}
    columns = [Column("class", is_number=False)]
    columns += [Column(name, spare=spare) for spare, name in enumerate(known, start=1)]
    columns += [Column(f"{row.label} ± std") for row in rows]
    of_rows = [torch.stack([100 - class_accuracy(confusion_of(run)) for run in row.runs.values()]) for row in rows]
    lines = [
        [
            Cell(runs[0].class_names[c]),
            *(count_cell(counts[c]) for counts in known.values()),
            *(spread_cell(errors[:, c]) for errors in of_rows),
        ]
        for c in sizes.order
    ]
    together = [spread(list(with_balanced_errors(row).errors.values())) for row in rows]
    best = min(each.mean for each in together)
    last = [Cell(BALANCED), *(Cell("") for _ in known)]
    last += [plus_minus(each.mean, each.std, each.mean == best) for each in together]
    decides = {"labels": "labels", "unlabeled": "unlabeled images", "tested": "test images"}[sizes.deciding]
    notes = [f"From the head to the tail, by the number of {decides}. {LAST}"]
    notes += ["Numbers of images are means over the runs, which differ in them."] if differ else []
    return with_abridged(Sheet(title, columns, [*lines, last], notes))


def mean_sizes(several: Sequence[Sizes]) -> tuple[Sizes, bool]:
    """Means over runs, and whether the runs differ; what is not known of some of them is not known."""
    means = [
        [fmean(counts) for counts in zip(*parts, strict=True)] if all(len(part) for part in parts) else []
        for parts in zip(*(each.parts.values() for each in several), strict=True)
    ]
    return Sizes(*means), len({str(each) for each in several}) > 1


def count_cell(mean: float) -> Cell:
    return number(mean, ".0f" if mean == round(mean) else ".1f")


def spread_cell(errors: Tensor) -> Cell:
    """A class without test images has no error."""
    around = [error for error in errors.tolist() if error == error]
    return plus_minus(spread(around).mean, spread(around).std) if around else Cell("-")


def with_abridged(sheet: Sheet) -> Sheet:
    """For a terminal, only both ends of many classes."""
    *lines, last = sheet.rows
    if len(lines) <= MOST_ROWS:
        return sheet
    between = [Cell("…"), *(Cell("") for _ in sheet.columns[1:])]
    ends = [*lines[:OF_AN_END], between, *lines[-OF_AN_END:], last]
    notes = [*sheet.notes, f"Both ends of {len(lines)} classes; out=report.html has all."]
    return replace(sheet, abridged=replace(sheet, rows=ends, notes=notes))
