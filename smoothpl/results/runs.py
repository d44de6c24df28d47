"""Runs as a report sees them: the knobs of each, flat and shared between runs of one recipe, and its results."""

import hashlib
import json
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from smoothpl.config.data_name import data_name
from smoothpl.config.recipe import is_recipe
from smoothpl.errors import ConfigError
from smoothpl.layout import RECORD, REFUSED_JOBS, SWEEP_RUNS
from smoothpl.record import companions
from smoothpl.record.record import Record, read
from smoothpl.record.verdict import Verdict

Protocol = Literal["last", "best", "median20"]
OF_PROTOCOL: dict[Protocol, str] = {"last": "error", "best": "error_best", "median20": "error_median20"}
Knobs = Mapping[str, Any]
PAPER = "paper"
REFUSED = "refused"
"""The status of a job of a sweep that was refused before it became a run."""
NEEDED = ("benchmark", "method", "split", "num_labels", "fold", "seed")
"""Keys of a record's config without which it is not known what was run."""


@dataclass(slots=True)
class Run:
    """One training. Runs of one recipe share its knobs and differ in fold and seed."""

    recipe: str
    name: str
    benchmark: str
    method: str
    split: str
    num_labels: int
    fold: int
    seed: int
    knobs: Knobs  # dotted names of everything that was composed and matters
    origin: str  # where it was made: a directory, or the paper
    status: str = "finished"
    error: float | None = None  # by the protocol that was asked for
    num_test: int = 0
    steps: "array[int]" = field(default_factory=lambda: array("l"))  # of its evaluations
    errors: "array[float]" = field(default_factory=lambda: array("d"))
    collapsed: tuple[int, ...] = ()
    class_names: tuple[str, ...] = ()
    confusion: "array[int]" = field(default_factory=lambda: array("l"))  # row by row
    labeled_per_class: tuple[int, ...] = ()
    unlabeled_per_class: tuple[int, ...] = ()  # empty where not all of them are known
    failure: str | None = None
    duration: float | None = None
    gap: float | None = None  # last error minus best
    sudden_rises: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    commit: str | None = None
    started: str = ""
    labeled: str = ""  # which images carried labels, as a digest
    verdict: Verdict | None = None  # whether the unlabeled images have helped
    told_apart: tuple[float, float] | None = None  # in an open set: strangers not taught, known images taught
    is_handed_over: bool = True  # whether its own network is used, and not that of labels alone

    @property
    def is_of_paper(self) -> bool:
        return self.origin == PAPER

    @property
    def counts(self) -> bool:
        return self.status == "finished" and self.error is not None and math.isfinite(self.error)

    @property
    def where(self) -> str:
        return f"fold={self.fold} seed={self.seed}"

    @property
    def is_known(self) -> bool:
        """Whether it has a record that can be read: a refused job has none."""
        return bool(self.recipe)

    @property
    def software(self) -> str:
        return ", ".join([*(f"{name} {version}" for name, version in self.versions.items()), f"commit {self.commit}"])


class Sharing:
    """Keeps one of several equal objects: ten thousand runs have a few dozen configurations."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def one(self, key: str, make: Callable[[], Any]) -> Any:
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]


def find_runs(folders: Iterable[Path], protocol: Protocol = "last") -> list[Run]:
    """All runs below some folders, also failed ones, and jobs that were refused."""
    folders = list(folders)
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError(
                f"{folder} is not a folder; name a folder with runs, or the word paper for the paper's errors."
            )
    runs = runs_below(folders, protocol)
    if not runs:
        raise ConfigError(f"no {RECORD} below {', '.join(map(str, folders))}; name a folder with runs.")
    return runs


def runs_below(folders: Sequence[Path], protocol: Protocol = "last") -> list[Run]:
    """Runs with a record, and jobs of sweeps that were refused before they had one."""
    places = sorted({place.resolve() for folder in folders for place in places_below(folder)})
    refused = sorted({path.resolve() for folder in folders for path in folder.rglob(REFUSED_JOBS)})
    return read_runs(places, protocol) + [job for path in refused for job in refused_jobs(path)]


def refused_jobs(path: Path) -> Iterator[Run]:
    """The jobs in a sweep's list; a line that cannot be read, as of a process that was killed, is one of them."""
    for line in path.read_text().splitlines():
        try:
            job = json.loads(line)
            yield without_result(str(job["why"]), REFUSED, "", " ".join(job["words"]))
        except (KeyError, TypeError, ValueError):
            yield without_result(f"{path} has a damaged line: {line}", REFUSED, "")


def read_runs(places: Iterable[Path], protocol: Protocol = "last") -> list[Run]:
    """A record that cannot be read becomes a run with the status unreadable."""
    sharing = Sharing()
    return [read_run(place, protocol, sharing) for place in places]


def places_below(folder: Path) -> Iterator[Path]:
    """Directories with a record, and those that a sweep lists as its runs: it may have resumed runs elsewhere."""
    yield from companions.runs_below(folder)
    for listed in folder.rglob(SWEEP_RUNS):
        lines = listed.read_text().splitlines()
        yield from (Path(line) for line in lines if (Path(line) / RECORD).is_file())


def read_run(place: Path, protocol: Protocol, sharing: Sharing) -> Run:
    try:
        return from_record(read(place), place, protocol, sharing)
    except ConfigError as error:
        return without_result(str(error), "unreadable", str(place))
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # a field of it is not of its kind
        return without_result(f"{place / RECORD} is damaged ({error!r})", "unreadable", str(place))


def without_result(failure: str, status: str, origin: str, name: str = "") -> Run:
    return Run("", name, "", "", "", 0, 0, 0, {}, origin, status, failure=failure)


def from_record(record: Record, place: Path, protocol: Protocol, sharing: Sharing) -> Run:
    config = record.config
    check_record(record, place)
    versions = json.dumps(record.versions)
    return Run(
        recipe=record.recipe,
        name=record.name,
        benchmark=data_name(config),
        method=config["method"],
        split=kind_of_split(config),
        num_labels=config["num_labels"] or len(record.labeled),
        fold=config["fold"],
        seed=config["seed"],
        knobs=sharing.one(record.recipe, lambda: dict(flat(config))),
        origin=str(place),
        status=record.status,
        error=getattr(record, OF_PROTOCOL[protocol]),
        num_test=record.num_test,
        steps=array("l", [each.step for each in record.history]),
        errors=array("d", [each.error for each in record.history]),
        collapsed=tuple(record.collapsed),
        class_names=sharing.one(json.dumps(record.class_names), lambda: tuple(record.class_names)),
        confusion=array("l", [count for row in record.confusion for count in row]),
        labeled_per_class=sharing.one(str(record.labeled_per_class), lambda: tuple(record.labeled_per_class)),
        unlabeled_per_class=unlabeled_per_class(record),
        failure=record.failure,
        duration=record.duration,
        gap=record.error_gap,
        sudden_rises=len(record.instability),
        versions=sharing.one(versions, lambda: record.versions),
        commit=record.commit,
        started=record.started,
        labeled=hashlib.sha256(str(record.labeled).encode()).hexdigest()[:8] if record.labeled else "",
        verdict=record.verdict,
        told_apart=told_apart(record),
        is_handed_over=not record.handed_over,
    )


def told_apart(record: Record) -> tuple[float, float] | None:
    recall, coverage = (record.metrics.get(name) for name in ("train/stranger_recall", "train/known_coverage"))
    return None if recall is None or coverage is None else (recall, coverage)


def check_record(record: Record, place: Path) -> None:
    """What a report needs of it."""
    missing = [name for name in NEEDED if name not in record.config]
    if missing:
        raise ConfigError(f"{place / RECORD}: its config has no {', '.join(missing)}; move it away to skip this run.")
    if any(type(record.config[name]) is not int for name in ("fold", "seed")):
        raise ConfigError(f"{place / RECORD} is damaged: fold and seed must be whole numbers.")
    size = len(record.class_names)
    if record.confusion and [len(row) for row in record.confusion] != [size] * size:
        raise ConfigError(f"{place / RECORD} is damaged: its confusion matrix does not fit its {size} classes.")


def unlabeled_per_class(record: Record) -> tuple[int, ...]:
    """Empty unless the classes of all unlabeled images are known."""
    counts = record.unlabeled_per_class
    return tuple(counts) if sum(counts) == record.num_unlabeled else ()


def kind_of_split(config: dict[str, Any]) -> str:
    """balanced, random, imbalanced, full, or the name of a user's own."""
    return str(config["split"]["_target_"]).rpartition(".")[2]


def flat(config: Mapping[str, Any], owner: str = "") -> Iterable[tuple[str, Any]]:
    """Dotted names and values of the knobs that make a recipe."""
    for name, value in config.items():
        key = f"{owner}.{name}" if owner else name
        if not is_recipe(key, value):
            continue
        if isinstance(value, Mapping):
            yield from flat(value, key)
        else:
            yield key, tuple(value) if isinstance(value, list) else value
