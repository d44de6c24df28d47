"""From runs to tables: rows compared with the baseline, more labels with fewer, one split with another."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from typing import Any, NamedTuple

from smoothpl.config.recipe import AFTER
from smoothpl.results.comparison import Comparison, Statistics, compare
from smoothpl.results.pairing import BEFORE, UNTIL_PAUSE, Duplicates, Group, Kind, Place, Row, gains_over, group, pair
from smoothpl.results.runs import Run
from smoothpl.results.sweeps import (
    Sweep,
    compare_lines,
    find_sweeps,
    for_comparison_only,
    gains_along,
    on_common_runs,
    split_seeds,
)


@dataclass
class Table(Group):
    """A group whose rows have been compared; recipes that were run for a sweep of a knob are in its sweeps only."""

    sweeps: list[Sweep] = field(default_factory=list)


def tabulate(
    runs: Iterable[Run],
    baseline: str = "fixmatch",
    statistics: Statistics = "exact",
    duplicates: Duplicates = "error",
) -> list[Table]:
    return [make_table(each, statistics) for each in group(runs, baseline, duplicates)]


def make_table(group: Group, statistics: Statistics) -> Table:
    sweeps = find_sweeps(group)
    aside = for_comparison_only(sweeps)
    for sweep in sweeps:
        on_common_runs(sweep)
    table = Table(group.place, [row for row in group.rows if row.recipe not in aside], group.baseline, sweeps=sweeps)
    seeds = split_seeds(table)
    if seeds is not None:
        table.sweeps.append(seeds)
    for sweep in table.sweeps:
        compare_lines(sweep, table.baseline, statistics)
    pair(table, statistics)
    return table


def aggregate(tables: list[Table], statistics: Statistics = "exact") -> dict[tuple[Kind, str], Comparison]:
    """All pairs of a method with the baseline on one data set, from all tables and sweeps, each run once, as in the
    paper's last comparison."""
    gains: dict[tuple[Kind, str], dict[Any, float]] = defaultdict(dict)
    for table in tables:
        for row in table.rows:
            if row.partner is not None:
                for key, gain in gains_over(row, row.partner, []).items():
                    gains[together(row.kind), data_of(row)].setdefault((table.place, row.recipe, key), gain)
        for sweep in table.sweeps:
            for course, line in sweep.lines.items():
                if line.partner is not None:
                    data = data_of(next(iter(line.rows.values())))
                    for run, gain in gains_along(line, line.partner):
                        gains[together(course.kind), data].setdefault((table.place, *run), gain)
    return {kind: compare(list(pairs.values()), statistics) for kind, pairs in gains.items() if pairs}


def together(kind: Kind) -> Kind:
    """The kind without the numbers of labels before: only whether a run was continued matters here."""
    return kind._replace(grown=CONTINUED if kind.grown else "")


def data_of(row: Row) -> str:
    return str(row.knobs.get("data.source._target_", row.knobs.get("data"))).rpartition(".")[2]


class Change(NamedTuple):
    """A change between runs of the same recipe: from fewer labels to more, or from balanced classes to others."""

    label: str
    before: Place
    after: Place
    comparison: Comparison  # its gains are by how much the error fell; for another split, by how much it rose


Chain = list[tuple[Place, Row]]
FROM_SCRATCH, CONTINUED = "trained from scratch", "continued"


def label_chains(tables: list[Table]) -> list[Chain]:
    """The same recipe with more and more labels, trained from scratch with each number."""
    from_scratch = [replace(table, rows=[row for row in table.rows if not row.kind.grown]) for table in tables]
    return chained(from_scratch, ["num_labels"], lambda place: place.split)


def grown_chains(tables: list[Table]) -> list[Chain]:
    """Each continued run after the one that it continues, as far back as there are such runs."""
    found: dict[Any, tuple[Place, Row]] = {}
    for table in tables:
        for row in table.rows:
            rest = (table.place.split, row.kind.method, other_knobs(row, ["num_labels", BEFORE]))
            found[*rest, (*row.knobs.get(BEFORE, ()), table.place.num_labels)] = (table.place, row)
    has_children = {(*rest, numbers[:-1]) for *rest, numbers in found}
    chains = []
    for *rest, numbers in [key for key in found if key not in has_children]:
        earlier = [(*rest, numbers[:size]) for size in range(len(numbers), 0, -1)]
        chains.append([found[key] for key in takewhile(found.__contains__, earlier)][::-1])
    return [chain for chain in chains if len(chain) > 1]


def increments(tables: list[Table], statistics: Statistics = "exact") -> dict[str, list[Change]]:
    """What more labels bring, in runs from scratch and in continued ones: the recipe with the next number of labels."""
    found: dict[str, list[Change]] = {}
    for way, chains in {FROM_SCRATCH: label_chains(tables), CONTINUED: grown_chains(tables)}.items():
        # Chains may share their beginnings.
        links = {(one[1].recipe, other[1].recipe): (one, other) for chain in chains for one, other in pairwise(chain)}
        knobs = ["num_labels", AFTER]
        found[way] = [change for link in links.values() for change in changes_of(*link, knobs, statistics, sign=1)]
    return {way: changes for way, changes in found.items() if changes}


def continuations(tables: list[Table], statistics: Statistics = "exact") -> list[Change]:
    """Continued runs against runs from scratch with as many labels; a gain is in favour of the continued ones."""
    changes: list[Change] = []
    for table in tables:
        knobs = ["num_labels", BEFORE, UNTIL_PAUSE]
        from_scratch = {(row.kind, other_knobs(row, knobs)): row for row in table.rows if not row.kind.grown}
        for row in table.rows:
            other = from_scratch.get((row.kind._replace(grown=""), other_knobs(row, knobs)))
            if row.kind.grown and other is not None:
                changes += changes_of((table.place, other), (table.place, row), ["num_labels"], statistics, sign=1)
    return changes


def drops(tables: list[Table], statistics: Statistics = "exact") -> list[Change]:
    """What another split costs: the same recipe with balanced classes and with others."""
    changes: list[Change] = []
    for chain in chained(tables, ["split"], lambda place: place.num_labels):
        balanced = [link for link in chain if link[0].split == "balanced"]
        others = [link for link in chain if link[0].split != "balanced"]
        if balanced:
            for other in others:
                changes += changes_of(balanced[0], other, ["split"], statistics, sign=-1)
    return changes


def other_knobs(row: Row, knobs: list[str]) -> tuple[tuple[str, str], ...]:
    """All knobs but some, to be compared."""
    return tuple(sorted((key, repr(value)) for key, value in row.knobs.items() if not {*knobs} & {*key.split(".")}))


def chained(tables: list[Table], knobs: list[str], same: Callable[[Place], object]) -> list[Chain]:
    """Recipes that differ in some knobs only, in the order of their tables."""
    chains: dict[Any, Chain] = defaultdict(list)
    for table in sorted(tables, key=lambda table: table.place.num_labels):
        for row in table.rows:
            chains[same(table.place), row.kind, other_knobs(row, knobs)].append((table.place, row))
    return [chain for chain in chains.values() if len(chain) > 1]


def changes_of(
    one: tuple[Place, Row], other: tuple[Place, Row], knobs: list[str], statistics: Statistics, sign: int
) -> Iterator[Change]:
    """The change over the folds and seeds that both rows have, if any; `sign` says what counts as a gain."""
    (before, first), (after, second) = one, other
    common = sorted({*first.errors} & {*second.errors})
    if common:
        changes = [sign * (first.errors[key] - second.errors[key]) for key in common]
        yield Change(second.label_without(*knobs), before, after, compare(changes, statistics))
