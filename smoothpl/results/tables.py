"""From runs to tables in which everything is compared with what it can be compared with."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from smoothpl.results.comparison import Comparison, Statistics, compare
from smoothpl.results.pairing import Duplicates, Group, Kind, Place, Row, gains_over, group, pair
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
    """A group whose rows have been compared; recipes that only vary a knob now and then are in its sweeps."""

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
    """All pairs of a method with the baseline on one data set, from all tables and sweeps, each run once: how the paper
    ends."""
    gains: dict[tuple[Kind, str], dict[Any, float]] = defaultdict(dict)
    for table in tables:
        for row in table.rows:
            if row.partner is not None:
                for key, gain in gains_over(row, row.partner, []).items():
                    gains[row.kind, data_of(row)].setdefault((table.place, row.recipe, key), gain)
        for sweep in table.sweeps:
            for course, line in sweep.lines.items():
                if line.partner is not None:
                    data = data_of(next(iter(line.rows.values())))
                    for run, gain in gains_along(line, line.partner):
                        gains[course.kind, data].setdefault((table.place, *run), gain)
    return {kind: compare(list(pairs.values()), statistics) for kind, pairs in gains.items() if pairs}


def data_of(row: Row) -> str:
    return str(row.knobs.get("data.source._target_", row.knobs.get("data"))).rpartition(".")[2]


class Step(NamedTuple):
    """From some runs to others of the same recipe: fewer labels to more, or balanced classes to others."""

    label: str
    before: Place
    after: Place
    comparison: Comparison  # its gains are how much lower errors became; of a drop, how much higher


Chain = list[tuple[Place, Row]]


def label_chains(tables: list[Table]) -> list[Chain]:
    """The same recipe with more and more labels."""
    return chained(tables, "num_labels", lambda place: place.split)


def increments(tables: list[Table], statistics: Statistics = "exact") -> list[Step]:
    """What adding labels brings: the same recipe with the next number of labels."""
    links = [link for chain in label_chains(tables) for link in pairwise(chain)]
    return [step for link in links for step in step_of(*link, "num_labels", statistics, sign=1)]


def drops(tables: list[Table], statistics: Statistics = "exact") -> list[Step]:
    """What another split costs: the same recipe with balanced classes and with others."""
    steps = []
    for chain in chained(tables, "split", lambda place: place.num_labels):
        balanced = [link for link in chain if link[0].split == "balanced"]
        others = [link for link in chain if link[0].split != "balanced"]
        if balanced:
            steps += [step for other in others for step in step_of(balanced[0], other, "split", statistics, sign=-1)]
    return steps


def chained(tables: list[Table], knob: str, same: Callable[[Place], object]) -> list[Chain]:
    """Recipes that differ in one knob only, in the order of their tables."""
    chains: dict[Any, Chain] = defaultdict(list)
    for table in sorted(tables, key=lambda table: table.place.num_labels):
        for row in table.rows:
            rest = tuple(sorted((key, repr(value)) for key, value in row.knobs.items() if knob not in key.split(".")))
            chains[same(table.place), row.kind, rest].append((table.place, row))
    return [chain for chain in chains.values() if len(chain) > 1]


def step_of(
    one: tuple[Place, Row], other: tuple[Place, Row], knob: str, statistics: Statistics, sign: int
) -> Iterator[Step]:
    (before, first), (after, second) = one, other
    common = sorted({*first.errors} & {*second.errors})
    if common:
        changes = [sign * (first.errors[key] - second.errors[key]) for key in common]
        yield Step(second.label_without(knob), before, after, compare(changes, statistics))
