"""Which runs belong together: those of one recipe in a row, of one benchmark in a table, and who is whose partner."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from smoothpl.errors import ConfigError
from smoothpl.results.comparison import Comparison, Spread, Statistics, compare, holm, spread
from smoothpl.results.runs import Knobs, Run

Duplicates = Literal["error", "newest", "oldest"]


class Key(NamedTuple):
    """What one run of a recipe has and no other."""

    fold: int
    seed: int

    def __str__(self) -> str:
        return f"fold={self.fold} seed={self.seed}"


class Place(NamedTuple):
    """Runs with the same task; only they can be compared."""

    benchmark: str
    num_labels: int
    split: str

    def __str__(self) -> str:
        return f"{self.benchmark}, {self.num_labels} labels, {self.split}"


@dataclass
class Row:
    """The finished runs of one recipe."""

    recipe: str
    label: str
    method: str
    knobs: Knobs
    is_of_paper: bool
    runs: dict[Key, Run]
    partner: "Row | None" = None
    comparison: Comparison | None = None
    p_holm: float | None = None

    @property
    def errors(self) -> dict[Key, float]:
        return {key: run.error for key, run in self.runs.items() if run.error is not None}

    @property
    def spread(self) -> Spread:
        return spread(list(self.errors.values()))


@dataclass
class Table:
    """All recipes that were run at one place."""

    place: Place
    rows: list[Row]
    baseline: str
    notes: list[str] = field(default_factory=list)

    @property
    def keys(self) -> list[Key]:
        return sorted({key for row in self.rows for key in row.runs})


def tabulate(
    runs: Iterable[Run],
    baseline: str = "fixmatch",
    statistics: Statistics = "exact",
    duplicates: Duplicates = "error",
) -> list[Table]:
    """Nothing is dropped in silence: what has no partner is in the notes of its table."""
    by_place: dict[Place, dict[str, dict[Key, Run]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        if run.counts:
            place, key = Place(run.benchmark, run.num_labels, run.split), Key(run.fold, run.seed)
            row = by_place[place][run.recipe]
            row[key] = choose(row[key], run, duplicates) if key in row else run
    tables = [make_table(place, by_place[place], baseline) for place in sorted(by_place)]
    for table in tables:
        for kind in (False, True):  # runs with runs, the paper's with the paper's
            pair([row for row in table.rows if row.is_of_paper == kind], table, statistics)
    return tables


def choose(one: Run, other: Run, duplicates: Duplicates) -> Run:
    if one.is_of_paper:  # where it prints the same run in several tables
        return one
    if duplicates == "error":
        raise ConfigError(
            f"{one.name} was run twice with {one.where}: in {one.origin} and in {other.origin}. Name one sweep only, "
            "or choose: duplicates=newest or duplicates=oldest."
        )
    earlier, later = sorted((one, other), key=lambda run: run.started)
    return later if duplicates == "newest" else earlier


def make_table(place: Place, recipes: dict[str, dict[Key, Run]], baseline: str) -> Table:
    # One recipe may have been spelled in several ways; the shortest says enough.
    names = {recipe: min((run.name for run in runs.values()), key=len) for recipe, runs in recipes.items()}
    short = {recipe: name.removesuffix(f",{recipe}") for recipe, name in names.items()}
    uses = Counter(short.values())
    rows = []
    for recipe, runs in recipes.items():
        first = next(iter(runs.values()))
        label = short[recipe] if uses[short[recipe]] == 1 else names[recipe]
        rows.append(Row(recipe, label, first.method, first.knobs, first.is_of_paper, dict(sorted(runs.items()))))
    rows.sort(key=lambda row: (row.is_of_paper, row.method != baseline, row.method, row.label))
    return Table(place, rows, baseline)


def pair(rows: list[Row], table: Table, statistics: Statistics) -> None:
    """A recipe's partner is the recipe of the baseline that agrees with it in every knob in which those of the baseline
    differ: the only one there is, or, in a sweep over thresholds, the one with the same threshold."""
    baselines = [row for row in rows if row.method == table.baseline]
    if rows and not baselines:
        table.notes.append(f"no run of {table.baseline} to compare with")
        return
    swept = differing_knobs(baselines)
    for row in rows:
        if row in baselines:
            continue
        fitting = [each for each in baselines if all(each.knobs.get(key) == row.knobs.get(key) for key in swept)]
        if not fitting:
            values = ", ".join(f"{key}={row.knobs.get(key)}" for key in shortest(swept))
            table.notes.append(f"{row.label} has no partner: {table.baseline} was not run with {values}")
            continue
        row.partner = fitting[0]
        gains = gains_over(row, row.partner, table.notes)
        if gains:
            row.comparison = compare(gains, statistics)
    compared = [row for row in rows if row.comparison is not None]
    for row, p in zip(compared, holm([row.comparison.p for row in compared if row.comparison]), strict=True):
        row.p_holm = p


def gains_over(row: Row, partner: Row, notes: list[str]) -> list[float]:
    """How much lower the error is, run by run."""
    gains = []
    for key in sorted({*row.runs, *partner.runs}):
        mine, other = row.runs.get(key), partner.runs.get(key)
        if mine is None or other is None:
            lacking = row if mine is None else partner
            notes.append(
                f"{(partner if mine is None else row).label}, {key}: no run of {lacking.label} to compare with"
            )
        elif (mine.num_test, mine.labeled) != (other.num_test, other.labeled):
            what = "test images" if mine.num_test != other.num_test else "labeled images"
            notes.append(f"{row.label}, {key}: other {what} than {partner.label} had; not compared")
        else:
            assert mine.error is not None
            assert other.error is not None
            gains.append(other.error - mine.error)
    return gains


def differing_knobs(rows: list[Row]) -> list[str]:
    keys = sorted({key for row in rows for key in row.knobs})
    return [key for key in keys if len({row.knobs.get(key) for row in rows}) > 1]


def shortest(keys: list[str]) -> list[str]:
    """Of threshold and policy.threshold, the one that was set."""
    return [key for key in keys if "." not in key] or keys


class Step(NamedTuple):
    """From some runs to others of the same method: fewer labels to more, or balanced classes to imbalanced ones."""

    label: str
    before: Place
    after: Place
    comparison: Comparison  # its gains are how much lower errors became; of a drop, how much higher


def increments(tables: list[Table], statistics: Statistics = "exact") -> list[Step]:
    """What adding labels brings: the same recipe with the next number of labels."""
    return steps_between(tables, ("num_labels",), lambda place: (place.benchmark, place.split), statistics, sign=1)


def drops(tables: list[Table], statistics: Statistics = "exact") -> list[Step]:
    """What another split costs: the same recipe with balanced classes and with others."""
    ordered = sorted(tables, key=lambda table: table.place.split != "balanced")
    found = steps_between(ordered, ("split",), lambda place: (place.benchmark, place.num_labels), statistics, sign=-1)
    return [step for step in found if step.before.split == "balanced"]


def steps_between(
    tables: list[Table], without: tuple[str, ...], kind: Any, statistics: Statistics, sign: int
) -> list[Step]:
    chains: dict[Any, list[tuple[Place, Row]]] = defaultdict(list)
    for table in tables:
        for row in table.rows:
            rest = tuple(sorted((k, repr(v)) for k, v in row.knobs.items() if not set(k.split(".")) & {*without}))
            chains[kind(table.place), row.is_of_paper, row.method, rest].append((table.place, row))
    steps = []
    for chain in chains.values():
        links = pairwise(chain) if "num_labels" in without else ((chain[0], each) for each in chain[1:])
        for (before, first), (after, second) in links:
            common = sorted({*first.errors} & {*second.errors})
            if common:
                changes = [sign * (first.errors[key] - second.errors[key]) for key in common]
                steps.append(Step(second.label, before, after, compare(changes, statistics)))
    return steps
