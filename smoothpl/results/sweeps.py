"""Sweeps of a knob: the error of each method as a line over the values of the knob."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from smoothpl.results.comparison import Comparison, Statistics, compare
from smoothpl.results.pairing import Group, Key, Kind, Row, differing_knobs, gains_over, shortest

FEWEST_VALUES = 3
"""Values of a knob that make a sweep."""
RARELY = 3
"""A value is shown in the sweep only, if another value was run at least this many times as often."""


class Course(NamedTuple):
    """A method along a knob, with all other knobs equal."""

    kind: Kind
    others: tuple[tuple[str, Any], ...]  # knobs in which recipes of the method differ besides, and their values here

    def __str__(self) -> str:
        return ", ".join([str(self.kind), *(f"{knob}={value}" for knob, value in self.others)])


@dataclass
class Line:
    rows: dict[float, Row]
    partner: "Line | None" = None
    comparison: Comparison | None = None


@dataclass
class Sweep:
    """The lines of all methods along a knob, which is named by the last part of its key."""

    knob: str
    lines: dict[Course, Line] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def values(self) -> list[float]:
        return sorted({value for line in self.lines.values() for value in line.rows})


def find_sweeps(group: Group) -> list[Sweep]:
    sweeps: dict[str, Sweep] = {}
    by_kind: dict[Kind, list[Row]] = defaultdict(list)
    for row in group.rows:
        by_kind[row.kind].append(row)
    for kind, rows in by_kind.items():
        varied = shortest(differing_knobs(rows))
        for knob in varied:
            for others, line in lines_along(knob, [other for other in varied if other != knob], rows).items():
                name = knob.rpartition(".")[2]
                sweeps.setdefault(name, Sweep(name)).lines[Course(kind, others)] = line
    return [with_short_names(sweep) for sweep in sweeps.values()]


def lines_along(knob: str, others: list[str], rows: list[Row]) -> dict[tuple[tuple[str, Any], ...], Line]:
    """One line through all recipes with the same other knobs, where there are enough of them."""
    bundles: dict[tuple[tuple[str, Any], ...], dict[float, Row]] = defaultdict(dict)
    for row in rows:
        value = row.knobs.get(knob)
        if value is not None and type(value) in (int, float):
            bundles[tuple((other, row.knobs.get(other)) for other in others)][float(value)] = row
    return {others: Line(bundle) for others, bundle in bundles.items() if len(bundle) >= FEWEST_VALUES}


def with_short_names(sweep: Sweep) -> Sweep:
    """The sweep without the names of other knobs, where a method has one line only."""
    kinds = [course.kind for course in sweep.lines]
    lines = {
        Course(course.kind, ()) if kinds.count(course.kind) == 1 else course: line
        for course, line in sweep.lines.items()
    }
    return Sweep(sweep.knob, lines)


def compare_lines(sweep: Sweep, baseline: str, statistics: Statistics) -> None:
    """Compares every line with the baseline's, at the same values."""
    for course, line in sweep.lines.items():
        kind = course.kind._replace(method=baseline)
        candidates = {c: each for c, each in sweep.lines.items() if c.kind == kind}
        if course in candidates or not candidates:
            continue
        same = [each for c, each in candidates.items() if c.others == course.others]
        if len(same) != 1 and len(candidates) > 1:
            sweep.notes.append(f"{course} has no partner among the lines of {baseline}")
            continue
        line.partner = same[0] if same else next(iter(candidates.values()))
        gains = [gain for _, gain in gains_along(line, line.partner)]
        line.comparison = compare(gains, statistics) if gains else None


def gains_along(line: Line, partner: Line) -> Iterable[tuple[tuple[str, Key], float]]:
    for value in sorted({*line.rows} & {*partner.rows}):
        row = line.rows[value]
        for key, gain in gains_over(row, partner.rows[value], []).items():
            yield (row.recipe, key), gain


def on_common_runs(sweep: Sweep) -> None:
    """Keeps the folds and seeds that were run at every value of every line: means over different folds cannot be
    compared. Where there are none, all are kept, and a note says so."""
    rows = [row for line in sweep.lines.values() for row in line.rows.values()]
    common = set.intersection(*({*row.runs} for row in rows))
    if not common:
        sweep.notes.append("Means are over different folds: none was run at every value.")
        return
    folds = ", ".join(map(str, sorted({key.fold for key in common})))
    left = sum(len(row.runs) - len(common) for row in rows)
    others = f"; {left} runs of other folds or seeds are left out here" if left else ""
    sweep.notes.append(f"Means over what was run at every value (fold {folds}){others}.")
    for line in sweep.lines.values():
        line.rows = {value: only(row, common) for value, row in line.rows.items()}


def only(row: Row, keys: Iterable[Key]) -> Row:
    return replace(row, runs={key: run for key, run in row.runs.items() if key in keys})


def for_comparison_only(sweeps: list[Sweep]) -> set[str]:
    """Recipes with a value of a knob that was run much less often than others; only the sweep shows them."""
    found = set()
    for sweep in sweeps:
        for line in sweep.lines.values():
            most = max(len(row.runs) for row in line.rows.values())
            found |= {row.recipe for row in line.rows.values() if RARELY * len(row.runs) <= most}
    return found


def split_seeds(group: Group) -> Sweep | None:
    """The same for seeds: where one seed was run much more often than every other, the others move from the table to a
    sweep over seeds, on the folds that all of them have."""
    times: dict[int, int] = defaultdict(int)
    for row in group.rows:
        for key in row.runs:
            times[key.seed] += 1
    usual = max(times, key=lambda seed: times[seed])
    are_rare = all(RARELY * count <= times[usual] for seed, count in times.items() if seed != usual)
    if len(times) < FEWEST_VALUES or not are_rare:
        return None
    sweep = Sweep("seed")
    for row in group.rows:
        folds = set.intersection(*({key.fold for key in row.runs if key.seed == seed} for seed in times))
        if folds and Course(row.kind, ()) not in sweep.lines:
            chosen = {seed: [key for key in row.runs if key.seed == seed and key.fold in folds] for seed in times}
            sweep.lines[Course(row.kind, ())] = Line({float(seed): only(row, keys) for seed, keys in chosen.items()})
    shown = {(row.recipe, key) for line in sweep.lines.values() for row in line.rows.values() for key in row.runs}
    for key in group.keys:  # a key leaves the table for all rows, or for none
        if key.seed != usual and all((row.recipe, key) in shown for row in group.rows if key in row.runs):
            for row in group.rows:
                row.runs.pop(key, None)
    return sweep if sweep.lines else None
