"""The sheets of a report: errors, comparisons with the baseline, sweeps, changes, and runs."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from smoothpl.results.comparison import Comparison, Statistics
from smoothpl.results.pairing import Kind, key_names
from smoothpl.results.runs import Protocol, Run
from smoothpl.results.sheets import Cell, Column, Sheet, number, p_cell, plus_minus
from smoothpl.results.sweeps import Sweep
from smoothpl.results.tables import Change, Table

MOST_COLUMNS = 12
"""Runs that have a column each; where there are more, only their spread is shown."""
RECIPE = Column("recipe", is_number=False)
OF_COMPARISON = [
    Column("n"),
    Column("gain ± std"),
    Column("95 %", spare=3),
    Column("wins"),
    Column("p"),
    Column("least p"),
    Column("Holm"),
    Column("ties", spare=1),
    Column("effect", spare=2),
]
LEGEND = (
    "n: pairs, level ones included. gain: how much lower the error is, run by run; deviations are those of the "
    "population (ddof = 0). 95 %: bootstrap interval of the mean gain. wins: better-worse-level. p: one-sided Wilcoxon "
    "signed-rank test of lower errors, {method}. least p: the smallest that so many pairs that differ can give. ties: "
    "differences of equal size. effect: matched-pairs rank-biserial correlation. Holm: p, corrected for the number of "
    "recipes in the table."
)
METHODS = {
    "exact": "exact over all signs, level pairs left out",
    "pratt": "exact over all signs, level pairs ranked and then left out (Pratt)",
    "paper": "as the paper's (SciPy up to 1.8: exact up to 25 pairs without level ones, else normal)",
}
NOT_INDEPENDENT = (
    "Pairs that share a fold are not independent of each other, so that this p is smaller than it should be: it "
    "describes these runs, and proves nothing of others."
)
PROTOCOLS: dict[Protocol, str] = {
    "last": "of the last checkpoint",
    "best": "of the best checkpoint",
    "median20": "median of the last 20",
}
STATUSES = {"finished": "finished without an error rate", "running": "running, or killed"}


def legend(statistics: Statistics) -> str:
    return LEGEND.format(method=METHODS[statistics])


def errors_sheet(table: Table, protocol: Protocol) -> Sheet:
    """Errors of every run, and how they spread."""
    keys = table.keys if len(table.keys) <= MOST_COLUMNS else []
    columns = [RECIPE, *(Column(name, spare=1) for name in key_names(keys)), Column("mean ± std")]
    columns += [Column(name, spare=2) for name in ("max", "min", "range", "n")]
    best = min(row.spread.mean for row in table.rows)
    rows = []
    for row in table.rows:
        around, errors = row.spread, row.errors
        summary = plus_minus(around.mean, around.std, around.mean == best)
        spare = [number(around.max), number(around.min), number(around.range), number(around.n, "d")]
        rows.append([Cell(row.label), *(number(errors.get(key)) for key in keys), summary, *spare])
    return Sheet(f"{table.place}: error {PROTOCOLS[protocol]}, %", columns, rows, table.notes)


def comparison_sheet(table: Table) -> Sheet | None:
    """Every recipe against the baseline, pair by pair."""
    rows = [
        [Cell(row.label), *comparison_cells(row.comparison, row.p_holm)]
        for row in table.rows
        if row.comparison is not None
    ]
    if not rows:
        return None
    return Sheet(f"{table.place}: against {table.baseline}", [RECIPE, *OF_COMPARISON], rows)


def comparison_cells(comparison: Comparison, p_holm: float | None) -> list[Cell]:
    around, test = comparison.spread, comparison.test
    low, high = comparison.interval or (None, None)
    interval = Cell("-") if low is None else Cell(f"{low:z.2f}…{high:z.2f}", low)
    return [
        number(around.n, "d"),
        plus_minus(around.mean, around.std),
        interval,
        Cell(f"{comparison.wins}-{comparison.losses}-{test.zeros}", comparison.wins),
        p_cell(comparison.p),
        p_cell(comparison.smallest_p),
        p_cell(p_holm),
        number(test.ties, "d"),
        number(test.effect),
    ]


def without_holm(cells: list[Any]) -> list[Any]:
    """Cells or columns of a comparison that is not one of several in a table."""
    place = [column.name for column in OF_COMPARISON].index("Holm")
    return cells[:place] + cells[place + 1 :]


def aggregate_sheet(comparisons: dict[tuple[Kind, str], Comparison], baseline: str) -> Sheet:
    """Every method against the baseline, over all tables and sweeps."""
    rows = [
        [Cell(str(kind)), Cell(data), *without_holm(comparison_cells(each, None))]
        for (kind, data), each in comparisons.items()
    ]
    columns = [Column("method", is_number=False), Column("data", is_number=False), *without_holm(OF_COMPARISON)]
    return Sheet(f"All pairs together, against {baseline}", columns, rows, [NOT_INDEPENDENT])


def sweep_sheet(sweep: Sweep, table: Table) -> Sheet:
    """Mean errors of every method at every value, and all pairs with the baseline at the same value together."""
    values = sweep.values
    columns = [Column("method", is_number=False), *(Column(f"{value:g}") for value in values)]
    columns += [Column("n"), Column("gain ± std", spare=2), Column("p"), Column("least p", spare=1)]
    rows = []
    for course, line in sweep.lines.items():
        cells = [number(line.rows[value].spread.mean) if value in line.rows else Cell("-") for value in values]
        comparison = line.comparison
        if comparison is None:
            compared = [Cell("-")] * 4
        else:
            around = comparison.spread
            compared = [number(around.n, "d"), plus_minus(around.mean, around.std), p_cell(comparison.p)]
            compared.append(p_cell(comparison.smallest_p))
        rows.append([Cell(str(course)), *cells, *compared])
    notes = [*sweep.notes, *([NOT_INDEPENDENT] if any(line.comparison for line in sweep.lines.values()) else [])]
    return Sheet(f"{table.place}: error against {sweep.knob}", columns, rows, notes)


def changes_sheet(title: str, changes: Sequence[Change]) -> Sheet | None:
    """What more labels or another split have changed; None if there is nothing to show."""
    if not changes:
        return None
    several = len({describe_kept(change) for change in changes}) > 1
    rows = [
        [
            Cell(change.label),
            *([Cell(describe_kept(change))] if several else []),
            Cell(describe_change(change)),
            *without_holm(comparison_cells(change.comparison, None)),
        ]
        for change in changes
    ]
    names = ["recipe", *(["at"] if several else []), "to"]
    columns = [*(Column(name, is_number=False) for name in names), *without_holm(OF_COMPARISON)]
    return Sheet(title, columns, rows)


def describe_kept(change: Change) -> str:
    """What is the same before and after."""
    place = change.after
    kept = place.split if change.before.split == place.split else f"{place.num_labels} labels"
    return f"{place.benchmark}, {kept}"


def describe_change(change: Change) -> str:
    before, after = change.before, change.after
    if before == after:
        return str(after.num_labels)
    return f"{before.num_labels} → {after.num_labels}" if before.split == after.split else after.split


def left_out_sheet(runs: Iterable[Run]) -> Sheet | None:
    """Runs and jobs without a result, by name; None if there are none."""
    rows = [
        [
            Cell(run.name),
            Cell(run.benchmark),
            Cell(run.where if run.is_known else ""),
            Cell(STATUSES.get(run.status, run.status)),
            Cell((run.failure or "").splitlines()[0] if run.failure else ""),
            Cell(Path(run.origin).name, link=run.origin or None),
        ]
        for run in runs
        if not run.counts
    ]
    if not rows:
        return None
    names = ("recipe", "data", "run", "status", "why", "where")
    return Sheet("Left out", [Column(name, is_number=False) for name in names], rows)


def runs_sheet(runs: Iterable[Run], version_numbers: dict[str, int]) -> Sheet:
    """Every run, with its directory; `version_numbers` are those of a list of versions elsewhere."""
    columns = [RECIPE, Column("data", is_number=False)]
    columns += [Column(name) for name in ("labels", "fold", "seed", "error, %", "above its best", "sudden rises")]
    columns += [Column("status", is_number=False), Column("seconds"), Column("versions")]
    columns += [Column("where", is_number=False)]
    rows = [
        [
            Cell(run.name),
            Cell(f"{run.benchmark}, {run.split}" if run.is_known else "-"),
            *(number(each if run.is_known else None, "d") for each in (run.num_labels, run.fold, run.seed)),
            number(run.error),
            number(run.gap),
            number(run.sudden_rises if run.is_known else None, "d"),
            Cell(run.status),
            number(run.duration, ".0f"),
            number(version_numbers.get(run.software), "d"),
            Cell(Path(run.origin).name, link=run.origin or None),
        ]
        for run in runs
    ]
    return Sheet("All runs", columns, rows)
