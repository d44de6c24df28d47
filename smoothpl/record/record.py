"""run.json: all that a run leaves behind for others to read. Reports read records, and nothing else."""

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from omegaconf import DictConfig

from smoothpl.config.recipe import plain, recipe_digest
from smoothpl.errors import ConfigError
from smoothpl.io.atomic import write_text
from smoothpl.layout import RECORD
from smoothpl.metrics.collapse import Turn
from smoothpl.metrics.coverage import Alarm
from smoothpl.metrics.instability import sudden_rises
from smoothpl.record.companions import runs_below
from smoothpl.record.consistency import contradiction
from smoothpl.record.schema import objection
from smoothpl.record.upgrade import upgraded
from smoothpl.record.verdict import Verdict, from_written
from smoothpl.record.versions import current_commit, installed_versions

SCHEMA = 8
"""docs/record.md says what is in it, and what each one brought; older ones are still read."""


class Evaluation(NamedTuple):
    """One look at the whole test set with the averaged network."""

    step: int
    error: float
    collapsed: list[int]
    shares: list[float] = []  # noqa: RUF012  # how often each class was predicted, as a part of its share


class LabelStage(NamedTuple):
    """How many labels there were, from which step on, in which run (its directory; empty for the run itself)."""

    num_labels: int
    since: int
    run: str


@dataclass
class Record:
    """A run. Errors are percentages of the test set; `error` is the last one, the paper's protocol."""

    config: dict[str, Any]
    recipe: str  # digest of everything that was composed but seed and fold: what runs are grouped by
    name: str = ""  # the recipe for people
    overrides: list[str] = field(default_factory=list)  # what was typed on the command line
    schema: int = SCHEMA
    status: str = "running"  # finished, failed or interrupted in the end
    failure: str | None = None
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    resumed_at: list[int] = field(default_factory=list)  # the steps from which it was continued
    duration: float | None = None  # seconds, without those lost
    time_before: float = 0.0  # seconds of earlier lives, up to the checkpoint that was continued
    versions: dict[str, str] = field(default_factory=installed_versions)
    commit: str | None = field(default_factory=current_commit)
    class_names: list[str] = field(default_factory=list)
    labeled: list[int] = field(default_factory=list)  # indices of the labeled images among the training images
    labeled_as: list[int] = field(default_factory=list)  # and the class of each
    label_history: list[LabelStage] = field(default_factory=list)  # one stage, unless labels were added
    labeled_per_class: list[int] = field(default_factory=list)
    unlabeled_per_class: list[int] = field(default_factory=list)  # known to the record, never to training
    num_unlabeled: int = 0  # of known or unknown class; labeled ones count if they are learned from in both ways
    num_strangers: int = 0  # of them, those of classes that have no labels (unlabeled=open_set)
    num_test: int = 0
    tested_on: str = ""  # what the test images are, if not a test set of their own
    num_left_out: int = 0  # files that are not images (data.on_bad_image=skip)
    image_size: list[int] = field(default_factory=list)  # height and width of what the network sees
    backbones: dict[str, str] = field(default_factory=dict)  # digest of each one's weights and preprocessing
    equilibrium: dict[str, float | None] = field(default_factory=dict)  # what unlabeled_weight=auto measured
    metrics: dict[str, float | None] = field(default_factory=dict)  # means over the last log_every steps
    history: list[Evaluation] = field(default_factory=list)
    confusion: list[list[int]] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)  # numbers of the test images that it is wrong about in the end
    surprise: list[float] = field(default_factory=list)  # mean -log p of the true class: metrics/surprise.py
    class_accuracy: list[float | None] = field(default_factory=list)
    calibration_error: float | None = None  # of the last evaluation: confidence against accuracy
    reliability: list[tuple[int, float, float]] = field(default_factory=list)  # its bins: number, confidence, accuracy
    collapsed: list[int] = field(default_factory=list)  # at the last evaluation
    turns: list[Turn] = field(default_factory=list)  # how it came to that: collapsed, partly, recovering, alive again
    alarms: list[Alarm] = field(default_factory=list)  # coverage that stayed low or fell, classes that were not taught
    error: float | None = None
    error_best: float | None = None  # for information: chosen on the test set, so never the headline
    error_median20: float | None = None  # FixMatch's protocol: median of the last 20 evaluations
    error_gap: float | None = None  # last minus best: what instability has cost
    instability: list[tuple[int, float, float]] = field(default_factory=list)  # sudden rises: step, error before, after
    verdict: Verdict | None = None  # whether the unlabeled images have helped, where that was asked
    handed_over: str = ""  # the directory, below this one, of the run whose network is used instead of this one's

    def take_history(self, history: list[Evaluation]) -> None:
        errors = [evaluation.error for evaluation in history]
        self.history = history
        if not history:  # of a checkpoint before the first evaluation
            self.error = self.error_best = self.error_median20 = self.error_gap = None
            self.collapsed, self.instability = [], []
            return
        self.error, self.error_best, self.error_median20 = errors[-1], min(errors), statistics.median(errors[-20:])
        self.error_gap = self.error - self.error_best
        self.collapsed = history[-1].collapsed
        self.instability = sudden_rises([(each.step, each.error) for each in history])


def new_record(config: DictConfig, name: str = "", overrides: Sequence[str] = ()) -> Record:
    stages = first_stage(config.num_labels)
    return Record(plain(config), recipe_digest(config), name, list(overrides), label_history=stages)


def first_stage(num_labels: int | None) -> list[LabelStage]:
    return [] if num_labels is None else [LabelStage(num_labels, 0, "")]


def write(run_dir: Path, record: Record) -> None:
    write_text(run_dir / RECORD, to_json(record))


def read(run_dir: Path) -> Record:
    path = run_dir / RECORD
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is damaged ({error}); move it away to skip this run.") from None
    fields = upgraded(fields)
    wrong = objection(fields, kinds(), newest=SCHEMA)
    if wrong:
        raise ConfigError(f"{path} {wrong}; move it away to skip this run.")
    try:
        record = from_fields(fields)
        wrong = contradiction(record)
    except (AttributeError, IndexError, KeyError, TypeError) as error:  # a part of a field is not of its kind
        wrong = f"is damaged ({error!r})"
    if wrong:
        raise ConfigError(f"{path} {wrong}; move it away to skip this run.")
    return record


def from_fields(fields: dict[str, Any]) -> Record:
    record = Record(**(UNKNOWN | fields))
    record.schema = SCHEMA
    record.history = evaluations(fields.get("history", []))
    record.turns = [Turn(**turn) for turn in record.turns]  # type: ignore[arg-type]
    record.alarms = [Alarm(**alarm) for alarm in record.alarms]  # type: ignore[arg-type]
    record.verdict = from_written(fields.get("verdict"))
    stages = [LabelStage(**stage) for stage in record.label_history]  # type: ignore[arg-type]
    record.label_history = stages or first_stage(record.config.get("num_labels"))
    record.instability = [tuple(rise) for rise in record.instability]  # type: ignore[misc]
    record.reliability = [tuple(each) for each in record.reliability]  # type: ignore[misc]
    return record


def read_below(places: Sequence[Path]) -> dict[Path, Record]:
    """Every record in some directories, or below them, by its own directory."""
    found: dict[Path, Record] = {}
    for place in places:
        runs = [place.parent] if place.name == RECORD and place.is_file() else sorted(runs_below(place))
        if not runs:
            raise ConfigError(f"{place} is not a run: there is no {RECORD} below it; name the directory of a run.")
        found |= {run_dir: read(run_dir) for run_dir in runs}
    return found


@cache
def kinds() -> dict[str, Any]:
    return get_type_hints(Record)


def evaluations(written: list[dict[str, Any]]) -> list[Evaluation]:
    return [
        Evaluation(
            each["step"],
            math.nan if each["error"] is None else each["error"],
            each["collapsed"],
            each.get("shares", []),
        )
        for each in written
    ]


UNKNOWN: dict[str, Any] = {"versions": {}, "commit": None, "started": ""}
"""What an older record does not say is not what is so now."""


def to_json(record: Record) -> str:
    return json.dumps(finite(asdict(record)), indent=1, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """NaN and infinity become null: JSON has no word for them, and a diverged run must still leave its record. Named
    tuples are written with their names."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
