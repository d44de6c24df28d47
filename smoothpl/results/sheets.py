"""Sheets: what a report says in tables, before it is known where they will be read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from smoothpl.paper.recompute import Figure
from smoothpl.results.comparison import Comparison, Statistics
from smoothpl.results.pairing import Key, Kind
from smoothpl.results.runs import Run
from smoothpl.results.sweeps import Sweep
from smoothpl.results.tables import Step, Table

MOST_COLUMNS = 12
"""Of single runs; where there are more, their spread has to do."""


class Cell(NamedTuple):
    text: str
    value: float | None = None  # to sort by
    std: float | None = None  # of a mean
    is_best: bool = False
    link: str | None = None  # a directory


class Column(NamedTuple):
    name: str
    is_number: bool = True
    spare: int = 0  # the higher, the sooner it is left out where there is little room


@dataclass
class Sheet:
    title: str
    columns: list[Column]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)


def number(value: float | None, form: str = "z.2f", is_best: bool = False) -> Cell:
    return Cell("-") if value is None else Cell(format(value, form), value, is_best=is_best)


def plus_minus(mean: float, std: float, is_best: bool = False) -> Cell:
    return Cell(f"{mean:z.2f} ± {std:.2f}", mean, std, is_best)


def format_p(p: float | None) -> str:
    if p is None:
        return "-"
    return f"{p:.3g}" if p >= 0.0001 else f"{p:.2e}"


def p_cell(p: float | None) -> Cell:
    return Cell(format_p(p), p)


RECIPE = Column("recipe", is_number=False)


def errors_sheet(table: Table, protocol: str) -> Sheet:
    """Errors of every run, and how they spread."""
    keys = table.keys if len(table.keys) <= MOST_COLUMNS else []
    columns = [RECIPE, *(Column(name, spare=1) for name in names_of(keys)), Column("mean ± std")]
    columns += [Column(name, spare=2) for name in ("max", "min", "range", "n")]
    best = min(row.spread.mean for row in table.rows)
    rows = []
    for row in table.rows:
        around, errors = row.spread, row.errors
        summary = plus_minus(around.mean, around.std, around.mean == best)
        spare = [number(around.max), number(around.min), number(around.range), number(around.n, "d")]
        rows.append([Cell(row.label), *(number(errors.get(key)) for key in keys), summary, *spare])
    kind = {"last": "of the last checkpoint", "best": "of the best checkpoint", "median20": "median of the last 20"}
    return Sheet(f"{table.place}: error {kind[protocol]}, %", columns, rows, table.notes)


def names_of(keys: Sequence[Key]) -> list[str]:
    """Folds by their number; as fold/seed, where there are several seeds."""
    several = len({key.seed for key in keys}) > 1
    return [f"{key.fold}/{key.seed}" if several else str(key.fold) for key in keys]


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


def legend(statistics: Statistics) -> str:
    return LEGEND.format(method=METHODS[statistics])


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


def comparison_sheet(table: Table) -> Sheet | None:
    """Against the baseline, pair by pair."""
    rows = [
        [Cell(row.label), *comparison_cells(row.comparison, row.p_holm)]
        for row in table.rows
        if row.comparison is not None
    ]
    if not rows:
        return None
    return Sheet(f"{table.place}: against {table.baseline}", [RECIPE, *OF_COMPARISON], rows)


def aggregate_sheet(comparisons: dict[tuple[Kind, str], Comparison], baseline: str) -> Sheet:
    rows = [
        [Cell(str(kind)), Cell(data), *without_holm(comparison_cells(each, None))]
        for (kind, data), each in comparisons.items()
    ]
    columns = [Column("method", is_number=False), Column("data", is_number=False), *without_holm(OF_COMPARISON)]
    return Sheet(f"All pairs together, against {baseline}", columns, rows, [NOT_INDEPENDENT])


NOT_INDEPENDENT = (
    "Pairs that share a fold are not independent of each other, so that this p is smaller than it should be: it "
    "describes these runs, and proves nothing of others."
)


def without_holm(cells: list[Any]) -> list[Any]:
    number = [column.name for column in OF_COMPARISON].index("Holm")
    return cells[:number] + cells[number + 1 :]


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


def steps_sheet(title: str, steps: list[Step]) -> Sheet | None:
    if not steps:
        return None
    several = len({at(step) for step in steps}) > 1
    rows = [
        [
            Cell(step.label),
            *([Cell(at(step))] if several else []),
            Cell(describe_step(step)),
            *without_holm(comparison_cells(step.comparison, None)),
        ]
        for step in steps
    ]
    names = ["recipe", *(["at"] if several else []), "to"]
    columns = [*(Column(name, is_number=False) for name in names), *without_holm(OF_COMPARISON)]
    return Sheet(title, columns, rows)


def at(step: Step) -> str:
    """What a step has not changed."""
    place = step.after
    kept = place.split if step.before.split == place.split else f"{place.num_labels} labels"
    return f"{place.benchmark}, {kept}"


def describe_step(step: Step) -> str:
    before, after = step.before, step.after
    if before == after:
        return str(after.num_labels)
    return f"{before.num_labels} → {after.num_labels}" if before.split == after.split else after.split


def paper_sheet(figures: Iterable[Figure]) -> Sheet:
    columns = [Column(name, is_number=False) for name in ("table", "method", "figure")]
    columns += [
        Column("published"),
        Column("again"),
        Column("same", is_number=False),
        Column("remark", is_number=False),
    ]
    rows = [
        [
            Cell(each.table),
            Cell(each.method),
            Cell(each.quantity.replace("_", " ")),
            Cell(each.published, float(each.published)),
            Cell(format_again(each), each.recomputed),
            Cell("yes" if each.agrees else "no"),
            Cell(each.remark),
        ]
        for each in figures
    ]
    return Sheet("The paper's figures, made again from its own errors", columns, rows)


def format_again(figure: Figure) -> str:
    if figure.quantity in ("p", "drop_p"):
        return f"{figure.recomputed:.6g}" if figure.recomputed > 0.001 else f"{figure.recomputed:.3g}"
    return f"{figure.recomputed:.{len(figure.published.partition('.')[2])}f}"


WORDS_OF_STATUS = {"finished": "finished without an error rate", "running": "running, or killed"}


def left_out_sheet(runs: Iterable[Run]) -> Sheet | None:
    """Runs that have no result, by name."""
    rows = [
        [
            Cell(run.name),
            Cell(run.benchmark),
            Cell(run.where if run.recipe else ""),
            Cell(WORDS_OF_STATUS.get(run.status, run.status)),
            Cell((run.failure or "").splitlines()[0] if run.failure else ""),
            Cell(Path(run.origin).name, link=run.origin or None),
        ]
        for run in runs
        if not run.counts
    ]
    if not rows:
        return None
    names = ("recipe", "benchmark", "run", "status", "why", "where")
    return Sheet("Left out", [Column(name, is_number=False) for name in names], rows)
