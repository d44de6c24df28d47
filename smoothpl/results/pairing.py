"""Which runs belong together: those of one recipe in a row, of one benchmark in a table, and who is whose partner."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from smoothpl.errors import ConfigError
from smoothpl.results.comparison import Comparison, Spread, Statistics, compare, holm, spread
from smoothpl.results.runs import Knobs, Run

Duplicates = Literal["error", "newest", "oldest"]
FEWEST_VALUES = 3
"""That make a sweep of a knob."""


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


class Kind(NamedTuple):
    """A method, of our runs or of the paper's: these are never mixed."""

    method: str
    is_of_paper: bool

    def __str__(self) -> str:
        return f"{self.method} (paper)" if self.is_of_paper else self.method


@dataclass
class Row:
    """The finished runs of one recipe."""

    recipe: str
    label: str
    kind: Kind
    knobs: Knobs
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
class Line:
    """A method along a knob, and its comparison with the baseline at the same values."""

    rows: dict[float, Row]
    comparison: Comparison | None = None


@dataclass
class Sweep:
    knob: str
    lines: dict[Kind, Line] = field(default_factory=dict)

    @property
    def values(self) -> list[float]:
        return sorted({value for line in self.lines.values() for value in line.rows})


@dataclass
class Table:
    """All recipes that were run at one place; those that only vary a knob are in its sweeps."""

    place: Place
    rows: list[Row]
    baseline: str
    sweeps: list[Sweep] = field(default_factory=list)
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
    tables = [make_table(place, by_place[place], baseline, statistics) for place in sorted(by_place)]
    return sorted(tables, key=lambda table: all(row.kind.is_of_paper for row in table.rows))  # our own first


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


def make_table(place: Place, recipes: dict[str, dict[Key, Run]], baseline: str, statistics: Statistics) -> Table:
    rows = [row_of(recipe, label, recipes[recipe]) for recipe, label in labels(recipes).items()]
    rows.sort(key=lambda row: (row.kind.is_of_paper, row.kind.method != baseline, row.kind.method, row.label))
    by_kind: dict[Kind, list[Row]] = defaultdict(list)
    for row in rows:
        by_kind[row.kind].append(row)
    usual = {kind: usual_values(several) for kind, several in by_kind.items()}
    main = [row for row in rows if all(row.knobs[knob] == value for knob, value in usual[row.kind].items())]
    sweeps = find_sweeps(by_kind, usual)
    seeds = Sweep("seed")
    for row in main:
        split_by_seed(row, seeds)
    table = Table(place, main, baseline, [*sweeps, seeds] if seeds.lines else sweeps)
    for is_of_paper in (False, True):
        pair([row for row in main if row.kind.is_of_paper == is_of_paper], table, statistics)
    for sweep in table.sweeps:
        compare_lines(sweep, baseline, statistics)
    return table


def labels(recipes: dict[str, dict[Key, Run]]) -> dict[str, str]:
    """Names without the digest of the recipe and without what all have in common, where they are still different.

    One recipe may have been spelled in several ways; the shortest says enough.
    """
    names = {recipe: min((run.name for run in runs.values()), key=len) for recipe, runs in recipes.items()}
    parts = {recipe: name.removesuffix(f",{recipe}").split(",") for recipe, name in names.items()}
    common = set.intersection(*(set(each[1:]) for each in parts.values())) if len(parts) > 1 else set()
    short = {recipe: ",".join(part for part in each if part not in common) for recipe, each in parts.items()}
    uses = Counter(short.values())
    return {recipe: short[recipe] if uses[short[recipe]] == 1 else name for recipe, name in names.items()}


def row_of(recipe: str, label: str, runs: dict[Key, Run]) -> Row:
    first = next(iter(runs.values()))
    return Row(recipe, label, Kind(first.method, first.is_of_paper), first.knobs, dict(sorted(runs.items())))


def swept_knobs(rows: list[Row]) -> list[str]:
    """Numbers that recipes of one method have several values of; of threshold and policy.threshold, the one that was
    set."""
    swept = []
    for knob in differing_knobs(rows):
        values = {row.knobs.get(knob) for row in rows}
        if len(values) >= FEWEST_VALUES and all(type(value) in (int, float) for value in values):
            swept.append(knob)
    return [knob for knob in swept if "." not in knob] or swept


def differing_knobs(rows: list[Row]) -> list[str]:
    keys = sorted({key for row in rows for key in row.knobs})
    return [key for key in keys if len({row.knobs.get(key) for row in rows}) > 1]


def usual_values(rows: list[Row]) -> dict[str, Any]:
    """Of every swept knob the value that has more runs than any other: the others are there for comparison."""
    usual = {}
    for knob in swept_knobs(rows):
        runs: Counter[Any] = Counter()
        for row in rows:
            runs[row.knobs[knob]] += len(row.runs)
        (first, most), (_, second), *_ = runs.most_common()
        if most > second:
            usual[knob] = first
    return usual


def find_sweeps(by_kind: dict[Kind, list[Row]], usual: dict[Kind, dict[str, Any]]) -> list[Sweep]:
    sweeps: dict[str, Sweep] = {}
    for kind, rows in by_kind.items():
        for knob in swept_knobs(rows):
            others = {name: value for name, value in usual[kind].items() if name != knob}
            along = [row for row in rows if all(row.knobs[name] == value for name, value in others.items())]
            line = Line(on_common_keys({float(row.knobs[knob]): row for row in along}))
            if len(line.rows) >= FEWEST_VALUES:
                sweep = sweeps.setdefault(knob, Sweep(knob.rpartition(".")[2]))
                sweep.lines[kind] = line
    return list(sweeps.values())


def on_common_keys(rows: dict[float, Row]) -> dict[float, Row]:
    """With the folds and seeds that were run at every value: means over different folds say nothing together."""
    common = set.intersection(*({*row.runs} for row in rows.values()))
    return {value: only(row, common) for value, row in rows.items()} if common else rows


def only(row: Row, keys: Iterable[Key]) -> Row:
    return replace(row, runs={key: run for key, run in row.runs.items() if key in keys})


def split_by_seed(row: Row, seeds: Sweep) -> None:
    """Where one seed has more runs than any other, those of the others are there for comparison: a sweep of seeds."""
    runs = Counter(key.seed for key in row.runs)
    if len(runs) < FEWEST_VALUES or row.kind in seeds.lines:
        return
    (usual, most), (_, second), *_ = runs.most_common()
    if most == second:
        return
    by_seed = {float(seed): only(row, [key for key in row.runs if key.seed == seed]) for seed in sorted(runs)}
    folds = set.intersection(*({key.fold for key in each.runs} for each in by_seed.values()))
    seeds.lines[row.kind] = Line(
        {seed: only(each, [key for key in each.runs if key.fold in folds]) for seed, each in by_seed.items()}
    )
    row.runs = {key: run for key, run in row.runs.items() if key.seed == usual}


def pair(rows: list[Row], table: Table, statistics: Statistics) -> None:
    """A recipe's partner is the recipe of the baseline that agrees with it in every knob in which those of the baseline
    differ: usually the only one there is."""
    baselines = [row for row in rows if row.kind.method == table.baseline]
    if rows and not baselines:
        table.notes.append(f"no run of {table.baseline} to compare with")
        return
    decisive = differing_knobs(baselines)
    for row in rows:
        if row in baselines:
            continue
        fitting = [each for each in baselines if all(each.knobs.get(key) == row.knobs.get(key) for key in decisive)]
        if not fitting:
            values = ", ".join(f"{key}={row.knobs.get(key)}" for key in decisive[:3])
            table.notes.append(f"{row.label} has no partner: {table.baseline} was not run with {values}")
            continue
        row.partner = fitting[0]
        gains = gains_over(row, row.partner, table.notes)
        if gains:
            row.comparison = compare(list(gains.values()), statistics)
    compared = [row for row in rows if row.comparison is not None]
    for row, p in zip(compared, holm([row.comparison.p for row in compared if row.comparison]), strict=True):
        row.p_holm = p


def gains_over(row: Row, partner: Row, notes: list[str]) -> dict[Key, float]:
    """How much lower the error is, run by run."""
    for one, other in ((row, partner), (partner, row)):
        alone = [key for key in one.runs if key not in other.runs]
        if alone:
            named = "; ".join(map(str, alone[:6])) + (f" and {len(alone) - 6} more" if len(alone) > 6 else "")
            notes.append(f"{one.label} without a partner in {other.label}: {named}")
    gains = {}
    for key in sorted({*row.runs} & {*partner.runs}):
        mine, theirs = row.runs[key], partner.runs[key]
        if (mine.num_test, mine.labeled) != (theirs.num_test, theirs.labeled):
            what = "test images" if mine.num_test != theirs.num_test else "labeled images"
            notes.append(f"{row.label}, {key}: other {what} than {partner.label} had; not compared")
        else:
            gains[key] = partner.errors[key] - row.errors[key]
    return gains


def compare_lines(sweep: Sweep, baseline: str, statistics: Statistics) -> None:
    for kind, line in sweep.lines.items():
        other = sweep.lines.get(Kind(baseline, kind.is_of_paper))
        if other is None or other is line:
            continue
        common = sorted({*line.rows} & {*other.rows})
        gains = [gain for value in common for gain in gains_over(line.rows[value], other.rows[value], []).values()]
        if gains:
            line.comparison = compare(gains, statistics)


def aggregate(tables: list[Table], statistics: Statistics = "exact") -> dict[Kind, Comparison]:
    """All pairs of a method with the baseline, from all tables and sweeps, each run once: the paper's last word."""
    gains: dict[Kind, dict[tuple[Place, str, Key], float]] = defaultdict(dict)
    for table in tables:
        matched = [(row, row.partner) for row in table.rows if row.partner is not None]
        for sweep in table.sweeps:
            for kind, line in sweep.lines.items():
                other = sweep.lines.get(Kind(table.baseline, kind.is_of_paper))
                if other is not None and other is not line:
                    matched += [(line.rows[value], other.rows[value]) for value in {*line.rows} & {*other.rows}]
        for row, partner in matched:
            for key, gain in gains_over(row, partner, []).items():
                gains[row.kind].setdefault((table.place, row.recipe, key), gain)
    return {kind: compare(list(pairs.values()), statistics) for kind, pairs in gains.items() if pairs}


class Step(NamedTuple):
    """From some runs to others of the same method: fewer labels to more, or balanced classes to imbalanced ones."""

    label: str
    before: Place
    after: Place
    comparison: Comparison  # its gains are how much lower errors became; of a drop, how much higher


def increments(tables: list[Table], statistics: Statistics = "exact") -> list[Step]:
    """What adding labels brings: the same recipe with the next number of labels."""
    chains = chained(tables, "num_labels", lambda place: place.split)
    links = [link for chain in chains for link in pairwise(chain)]
    return [step for link in links for step in step_of(*link, statistics, sign=1)]


def drops(tables: list[Table], statistics: Statistics = "exact") -> list[Step]:
    """What another split costs: the same recipe with balanced classes and with others."""
    chains = chained(tables, "split", lambda place: place.num_labels)
    steps = []
    for chain in chains:
        balanced = [link for link in chain if link[0].split == "balanced"]
        others = [link for link in chain if link[0].split != "balanced"]
        if balanced:
            steps += [step for other in others for step in step_of(balanced[0], other, statistics, sign=-1)]
    return steps


def chained(tables: list[Table], knob: str, same: Any) -> list[list[tuple[Place, Row]]]:
    """Recipes that differ in one knob only, in the order of their tables."""
    chains: dict[Any, list[tuple[Place, Row]]] = defaultdict(list)
    for table in tables:
        for row in table.rows:
            rest = tuple(sorted((key, repr(value)) for key, value in row.knobs.items() if knob not in key.split(".")))
            chains[same(table.place), row.kind, rest].append((table.place, row))
    return list(chains.values())


def step_of(one: tuple[Place, Row], other: tuple[Place, Row], statistics: Statistics, sign: int) -> Iterable[Step]:
    (before, first), (after, second) = one, other
    common = sorted({*first.errors} & {*second.errors})
    if common:
        changes = [sign * (first.errors[key] - second.errors[key]) for key in common]
        yield Step(str(second.kind), before, after, compare(changes, statistics))
