"""From runs to tables in which everything is compared with what it can be compared with."""

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
                    gains[together(row.kind), data_of(row)].setdefault((table.place, row.recipe, key), gain)
        for sweep in table.sweeps:
            for course, line in sweep.lines.items():
                if line.partner is not None:
                    data = data_of(next(iter(line.rows.values())))
                    for run, gain in gains_along(line, line.partner):
                        gains[together(course.kind), data].setdefault((table.place, *run), gain)
    return {kind: compare(list(pairs.values()), statistics) for kind, pairs in gains.items() if pairs}


def together(kind: Kind) -> Kind:
    """Whatever labels a run had before: that it had fewer is enough to keep it apart."""
    return kind._replace(grown=GOING_ON if kind.grown else "")


def data_of(row: Row) -> str:
    return str(row.knobs.get("data.source._target_", row.knobs.get("data"))).rpartition(".")[2]


class Step(NamedTuple):
    """From some runs to others of the same recipe: fewer labels to more, or balanced classes to others."""

    label: str
    before: Place
    after: Place
    comparison: Comparison  # its gains are how much lower errors became; of a drop, how much higher


Chain = list[tuple[Place, Row]]
ANEW, GOING_ON = "trained anew", "going on"


def label_chains(tables: list[Table]) -> list[Chain]:
    """The same recipe with more and more labels, trained anew with each number."""
    anew = [replace(table, rows=[row for row in table.rows if not row.kind.grown]) for table in tables]
    return chained(anew, ["num_labels"], lambda place: place.split)


def grown_chains(tables: list[Table]) -> list[Chain]:
    """Each run after the trained one that it goes on from, as far back as there are such runs."""
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


def increments(tables: list[Table], statistics: Statistics = "exact") -> dict[str, list[Step]]:
    """What adding labels brings, in both ways: the same recipe with the next number of labels."""
    found: dict[str, list[Step]] = {}
    for way, chains in {ANEW: label_chains(tables), GOING_ON: grown_chains(tables)}.items():
        # Chains may share their beginnings.
        links = {(one[1].recipe, other[1].recipe): (one, other) for chain in chains for one, other in pairwise(chain)}
        knobs = ["num_labels", AFTER]
        found[way] = [step for link in links.values() for step in step_of(*link, knobs, statistics, sign=1)]
    return {way: steps for way, steps in found.items() if steps}


def continuations(tables: list[Table], statistics: Statistics = "exact") -> list[Step]:
    """Going on with more labels against training anew with as many; a gain is in favour of going on."""
    steps: list[Step] = []
    for table in tables:
        knobs = ["num_labels", BEFORE, UNTIL_PAUSE]
        anew = {(row.kind, other_knobs(row, knobs)): row for row in table.rows if not row.kind.grown}
        for row in table.rows:
            other = anew.get((row.kind._replace(grown=""), other_knobs(row, knobs)))
            if row.kind.grown and other is not None:
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
