"""Which runs belong together: those of one recipe make a row, those on the same data a table; and partners of rows."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from smoothpl.config.recipe import AFTER, BEGUN
from smoothpl.errors import ConfigError
from smoothpl.results.comparison import Comparison, Spread, Statistics, compare, holm, spread
from smoothpl.results.runs import Knobs, Run

Duplicates = Literal["error", "newest", "oldest"]
BEFORE, UNTIL_PAUSE = "labels_before", "labels_until_pause"
BUDGET = ("max_steps", "batch_size", "net", "data", "backbone", "finetune")
NOTED = ("unlabeled_ratio",)
"""Knobs, or groups of them, that partners have in common: a method that may do more is not a better one. And one that
belongs to some methods; a note says where it differs."""


class Key(NamedTuple):
    """What tells the runs of a recipe apart."""

    fold: int
    seed: int

    def __str__(self) -> str:
        return f"fold={self.fold} seed={self.seed}"


class Place(NamedTuple):
    """The task of a run; only runs with the same task are compared."""

    benchmark: str
    num_labels: int
    split: str

    def __str__(self) -> str:
        return f"{self.benchmark}, {self.num_labels} labels, {self.split}"


class Kind(NamedTuple):
    """A method, in our runs or in the paper's, with the labels that it had before; kinds are never mixed."""

    method: str
    is_of_paper: bool
    grown: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, [f"{self.method} (paper)" if self.is_of_paper else self.method, self.grown]))


def kind_of(run: Run) -> Kind:
    earlier = {AFTER: run.knobs.get(BEFORE), BEGUN: run.knobs.get(UNTIL_PAUSE)}
    grown = [f"{name}={'-'.join(map(str, numbers))}" for name, numbers in earlier.items() if numbers]
    return Kind(run.method, run.is_of_paper, ", ".join(grown))


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

    def label_without(self, *knobs: str) -> str:
        """The label without the values of some knobs."""
        return ",".join(part for part in self.label.split(",") if part.partition("=")[0].strip() not in knobs)


@dataclass
class Group:
    """All recipes of one task, before anything is compared."""

    place: Place
    rows: list[Row]
    baseline: str
    notes: list[str] = field(default_factory=list)

    @property
    def keys(self) -> list[Key]:
        return sorted({key for row in self.rows for key in row.runs})


def key_names(keys: Sequence[Key]) -> list[str]:
    """Folds by their number; as fold/seed, where there are several seeds."""
    several = len({key.seed for key in keys}) > 1
    return [f"{key.fold}/{key.seed}" if several else str(key.fold) for key in keys]


def group(runs: Iterable[Run], baseline: str, duplicates: Duplicates = "error") -> list[Group]:
    by_place: dict[Place, dict[str, dict[Key, Run]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        if run.counts:
            place, key = Place(run.benchmark, run.num_labels, run.split), Key(run.fold, run.seed)
            row = by_place[place][run.recipe]
            row[key] = choose(row[key], run, duplicates) if key in row else run
    groups = [Group(place, make_rows(by_place[place], baseline), baseline) for place in sorted(by_place)]
    return sorted(groups, key=lambda each: all(row.kind.is_of_paper for row in each.rows))  # our own first


def choose(one: Run, other: Run, duplicates: Duplicates) -> Run:
    if one.is_of_paper:  # where it prints the same run in several tables
        return one
    if duplicates == "error":
        raise ConfigError(
            f"{one.name} was run twice with {one.where}: in {one.origin} and in {other.origin}. Name one sweep only, "
            "or choose one: smoothpl report ... duplicates=newest (or oldest); in the report of a multirun: "
            "hydra.callbacks.report.duplicates=newest."
        )
    earlier, later = sorted((one, other), key=lambda run: run.started)
    return later if duplicates == "newest" else earlier


def make_rows(recipes: dict[str, dict[Key, Run]], baseline: str) -> list[Row]:
    rows = []
    for recipe, label in labels(recipes).items():
        runs = recipes[recipe]
        first = next(iter(runs.values()))
        rows.append(Row(recipe, label, kind_of(first), first.knobs, dict(sorted(runs.items()))))
    return sorted(rows, key=lambda row: (row.kind.is_of_paper, row.kind.method != baseline, row.kind.method, row.label))


def labels(recipes: dict[str, dict[Key, Run]]) -> dict[str, str]:
    """Names without the digest of the recipe and without what all have in common, as long as they differ.

    A recipe may have been typed in several ways; the shortest name is taken.
    """
    names = {recipe: min((run.name for run in runs.values()), key=len) for recipe, runs in recipes.items()}
    parts = {recipe: name.removesuffix(f",{recipe}").split(",") for recipe, name in names.items()}
    common = set.intersection(*(set(each[1:]) for each in parts.values())) if len(parts) > 1 else set()
    common = {part for part in common if part.partition("=")[0] not in (AFTER, BEGUN)}  # these are another experiment
    short = {recipe: ",".join(part for part in each if part not in common) for recipe, each in parts.items()}
    uses = Counter(short.values())
    return {recipe: short[recipe] if uses[short[recipe]] == 1 else name for recipe, name in names.items()}


def pair(group: Group, statistics: Statistics) -> None:
    """Compares every row with its partner, the row of the baseline; a row or run without one is named in the notes."""
    for is_of_paper in (False, True):
        rows = [row for row in group.rows if row.kind.is_of_paper == is_of_paper]
        baselines = [row for row in rows if row.kind.method == group.baseline]
        if rows and not baselines:
            group.notes.append(f"no run of {group.baseline} to compare with")
            continue
        for row in rows:
            if row.kind.method != group.baseline:
                alike = [each for each in baselines if each.kind.grown == row.kind.grown]
                find_partner(row, alike, group.notes, group.baseline)
            if row.partner is not None:
                gains = gains_over(row, row.partner, group.notes)
                row.comparison = compare(list(gains.values()), statistics) if gains else None
        compared = [row for row in rows if row.comparison is not None]
        for row, p in zip(compared, holm([row.comparison.p for row in compared if row.comparison]), strict=True):
            row.p_holm = p


def find_partner(row: Row, baselines: list[Row], notes: list[str], baseline: str) -> None:
    """The partner is the recipe of the baseline that has the same values of the knobs in which recipes of the baseline
    differ, as far as the row has these knobs. Usually the baseline has one recipe only."""
    decisive = [key for key in differing_knobs(baselines) if row.knobs.get(key) is not None]
    fitting = [each for each in baselines if all(each.knobs.get(key) == row.knobs[key] for key in decisive)]
    if not fitting:
        values = ", ".join(f"{key}={row.knobs[key]}" for key in shortest(decisive)[:3]) or "the same labels before"
        notes.append(f"{row.label} has no partner: {baseline} was not run with {values}")
        return
    equal = [each for each in fitting if not unequal(row, each, BUDGET)]
    if not equal:
        nearest = min(fitting, key=lambda each: len(unequal(row, each, BUDGET)))
        differences = ", ".join(unequal(row, nearest, BUDGET)[:3])
        notes.append(f"{row.label} is not compared with {nearest.label}, which had another budget: {differences}")
        return
    row.partner = min(equal, key=lambda each: len(each.label))
    if len(equal) > 1:
        notes.append(
            f"{row.label} is compared with {row.partner.label}, the simplest of {len(equal)} possible partners"
        )
    others = unequal(row, row.partner, NOTED)
    if others:
        notes.append(f"{row.label} and {row.partner.label} differ in more than the method: {', '.join(others)}")


def unequal(row: Row, other: Row, groups: Sequence[str]) -> list[str]:
    """The knobs of some groups in which two rows differ, with both values."""
    keys = shortest([key for key in differing_knobs([row, other]) if key.partition(".")[0] in groups])
    return [f"{key} {row.knobs.get(key)} and {other.knobs.get(key)}" for key in keys]


def gains_over(row: Row, partner: Row, notes: list[str]) -> dict[Key, float]:
    """How much lower the error is than the partner's, run by run."""
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
            notes.append(f"{row.label}, {key}: not compared, because {partner.label} had other {what}")
        else:
            gains[key] = partner.errors[key] - row.errors[key]
    return gains


def differing_knobs(rows: list[Row]) -> list[str]:
    keys = sorted({key for row in rows for key in row.knobs})
    return [key for key in keys if len({row.knobs.get(key) for row in rows}) > 1]


def shortest(keys: list[str]) -> list[str]:
    """Knobs without those that take their value from another: threshold, not policy.threshold."""
    return [key for key in keys if not any(key != other and key.endswith(f".{other}") for other in keys)]
