"""From runs to tables in which everything is compared with what it can be compared with."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from smoothpl.recipe import AFTER
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
GOING_ON = ", going on"
BEFORE = "labels_before"


def label_chains(tables: list[Table]) -> dict[str, list[Chain]]:
    """The same recipe with more and more labels: trained anew with each number, or going on from the one before."""
    return {
        "": chained(tables, ["num_labels"], lambda place: place.split),
        GOING_ON: grown_chains(tables),
    }


def grown_chains(tables: list[Table]) -> list[Chain]:
    """By the numbers of labels that runs have had, each run after the one that it goes on from."""
    found: dict[Any, dict[tuple[int, ...], tuple[Place, Row]]] = defaultdict(dict)
    for table in tables:
        for row in table.rows:
            numbers = (*row.knobs.get(BEFORE, ()), table.place.num_labels)
            found[table.place.split, row.kind, other_knobs(row, ["num_labels", BEFORE])][numbers] = (table.place, row)
    return [
        [rows[numbers[:size]] for size in range(1, len(numbers) + 1) if numbers[:size] in rows]
        for rows in found.values()
        for numbers in sorted(rows)
        if len(numbers) > 1 and not any(longer[: len(numbers)] == numbers for longer in rows if longer != numbers)
    ]


def increments(tables: list[Table], statistics: Statistics = "exact") -> list[Step]:
    """What adding labels brings: the same recipe with the next number of labels."""
    return [
        step._replace(label=step.label + way)
        for way, chains in label_chains(tables).items()
        for chain in chains
        for link in pairwise(chain)
        for step in step_of(*link, ["num_labels", AFTER], statistics, sign=1)
    ]


def continuations(tables: list[Table], statistics: Statistics = "exact") -> list[Step]:
    """Going on from a trained run against training anew, with the same labels; a gain is in favour of going on."""
    steps: list[Step] = []
    for table in tables:
        knobs = ["num_labels", BEFORE]
        anew = {(row.kind, other_knobs(row, knobs)): row for row in table.rows if not row.knobs.get(BEFORE)}
        for row in table.rows:
            other = anew.get((row.kind, other_knobs(row, knobs)))
            if row.knobs.get(BEFORE) and other is not None:
                steps += step_of((table.place, other), (table.place, row), ["num_labels"], statistics, sign=1)
    return steps


def drops(tables: list[Table], statistics: Statistics = "exact") -> list[Step]:
    """What another split costs: the same recipe with balanced classes and with others."""
    steps = []
    for chain in chained(tables, ["split"], lambda place: place.num_labels):
        balanced = [link for link in chain if link[0].split == "balanced"]
        others = [link for link in chain if link[0].split != "balanced"]
        if balanced:
            steps += [step for other in others for step in step_of(balanced[0], other, ["split"], statistics, sign=-1)]
    return steps


def other_knobs(row: Row, knobs: list[str]) -> tuple[tuple[str, str], ...]:
    """All but some, to be compared."""
    return tuple(sorted((key, repr(value)) for key, value in row.knobs.items() if not {*knobs} & {*key.split(".")}))


def chained(tables: list[Table], knobs: list[str], same: Callable[[Place], object]) -> list[Chain]:
    """Recipes that differ in some knobs only, in the order of their tables."""
    chains: dict[Any, Chain] = defaultdict(list)
    for table in sorted(tables, key=lambda table: table.place.num_labels):
        for row in table.rows:
            chains[same(table.place), row.kind, other_knobs(row, knobs)].append((table.place, row))
    return [chain for chain in chains.values() if len(chain) > 1]


def step_of(
    one: tuple[Place, Row], other: tuple[Place, Row], knobs: list[str], statistics: Statistics, sign: int
) -> Iterator[Step]:
    (before, first), (after, second) = one, other
    common = sorted({*first.errors} & {*second.errors})
    if common:
        changes = [sign * (first.errors[key] - second.errors[key]) for key in common]
        yield Step(second.label_without(*knobs), before, after, compare(changes, statistics))
