"""The verdict: a run against its twin, which learns from the labels alone, and which of the two is handed over.

Both are compared on the test images, or where labels are held out to test, on those. What is chosen is chosen by
held-out labels only: each part of them is held out once, and both are trained without it. Where that would take long
(no frozen features), there is only the part that the run itself has held out.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from omegaconf import DictConfig

from smoothpl.cli.messages import inform
from smoothpl.config.checks.trainer import seconds
from smoothpl.config.checks.verdict import trains_quickly
from smoothpl.config.recipe import recipe_name
from smoothpl.data.folder.held_out import parts_that_can_test
from smoothpl.data.folder.scan import Scan, scan_folder
from smoothpl.data.parts import Part, num_parts
from smoothpl.errors import DivergenceError, Interruption, require
from smoothpl.layout import LABELS_ONLY, PARTS, RECORD
from smoothpl.metrics.paired import PairedErrors
from smoothpl.metrics.surprise import least
from smoothpl.record.record import Record, read, write
from smoothpl.record.verdict import HeldOut, Verdict, judge
from smoothpl.run.companions import labels_only, lean, of_part
from smoothpl.run.lock import hold
from smoothpl.run.resume import is_same_run
from smoothpl.run.together import do_together, one_thread
from smoothpl.run.training import train


class Pair(NamedTuple):
    """A run, and the one of labels alone, tested on the same images."""

    alone: Record
    run: Record

    @property
    def errors(self) -> PairedErrors:
        number = self.run.num_test
        require(
            self.alone.num_test == number,
            f"labels alone were tested on {self.alone.num_test} images, and the run on {number}; train both again.",
        )
        # A network that has diverged knows nothing.
        alone, run = (each.wrong if is_finished(each) else range(number) for each in self)
        return PairedErrors.of(alone, run, number)


class Task(NamedTuple):
    """A run that is to be trained beside another one."""

    config: DictConfig
    place: Path
    keeps_photographs: bool = False


class Beside(NamedTuple):
    """What all runs beside a run have in common."""

    config: DictConfig  # of the run
    run_dir: Path
    record: Record
    scan: Scan | None
    deadline: float | None  # by the clock of monotonic()

    @property
    def labels_only(self) -> Task:
        """The twin of the run; the card may show its photographs."""
        return Task(labels_only(self.config), self.run_dir / LABELS_ONLY, bool(self.config.pictures))

    def of_part(self, part: Part) -> tuple[Task, Task]:
        """Labels alone and the run itself, without a part of the labeled images, on which both are tested."""
        place, config = self.run_dir / PARTS / str(part.fold), of_part(self.config, part)
        return Task(labels_only(config), place / LABELS_ONLY), Task(config, place)

    def prepare(self, parts: Sequence[Part]) -> None:
        """All of them at once, as far as that is possible; those that take longest come first."""
        tasks = [task for part in parts for task in self.of_part(part)[::-1]]
        tasks = sorted([*tasks, self.labels_only], key=lambda task: task.config.policy is None)
        if self.deadline is None and trains_quickly(self.config):
            do_together([partial(self.train, task) for task in tasks if not is_done(task.place)])

    def train(self, task: Task) -> Record:
        """One that is finished is not trained again; one that diverges has no answers, and stays unfinished."""
        config, place, keeps_photographs = task
        beside = lean(config, self.record.equilibrium, keeps_photographs)
        if (place / RECORD).is_file():
            require(
                is_same_run(read(place), beside),
                f"{place} holds a run of other settings than {self.run_dir}, beside which it stands; move it away.",
            )
        if is_done(place):
            return read(place)
        if self.deadline is not None:
            beside.max_time = time_until(self.deadline)
        try:
            with one_thread() if trains_quickly(config) else nullcontext():
                return train(beside, place, recipe_name(beside), self.record.overrides, self.scan)
        except DivergenceError:
            return read(place)

    def pairs_of(self, parts: Sequence[Part]) -> list[Pair]:
        return [Pair(*map(self.train, self.of_part(part))) for part in parts]


def is_done(place: Path) -> bool:
    return (place / RECORD).is_file() and is_finished(read(place))


def with_verdict(config: DictConfig, run_dir: Path, record: Record, scan: Scan | None, started: float) -> Record:
    """`record`: of a run that is finished; the same comes back. `started`: when, by the clock of monotonic()."""
    if config.policy is None:
        inform(f"No verdict: method={config.method} learns from labels alone, so there is nothing to compare.")
        return record
    require(
        len(record.wrong) > 0 or record.error == 0,
        f"run={run_dir} was trained by a version that did not keep which images it is wrong about; train it again.",
    )
    limit = None if config.max_time is None else seconds(config.max_time)
    with hold(run_dir):
        beside = Beside(config, run_dir, record, scan, None if limit is None else started + limit)
        if not trains_quickly(config):
            inform("The same from labels alone, to tell whether the unlabeled images help:")
        parts = parts_to_hold_out(beside)
        beside.prepare(parts)
        twin = beside.train(beside.labels_only)
        record.verdict = verdict_on(Pair(twin, record), beside.pairs_of(parts))
        is_twin = config.verdict.action == "choose" and record.verdict.prefers_labels_alone and is_finished(twin)
        record.handed_over = LABELS_ONLY if is_twin else ""
        record.config["verdict"] = {"action": config.verdict.action}  # asked for later, perhaps
        write(run_dir, record)
    return record


def verdict_on(own: Pair, of_parts: Sequence[Pair]) -> Verdict:
    """`own`: the run and its twin; `of_parts`: both without other parts of the labeled images."""
    if not own.run.config["data"].get("folds"):  # test images
        return judge(own.errors, "test images", pooled(of_parts) if of_parts else None)
    held_out = pooled([own, *of_parts])
    number = held_out.num_parts
    described = f"labeled images, each held out once, in {number} parts" if of_parts else own.run.tested_on
    return judge(held_out.pairs, described, held_out)


def parts_to_hold_out(beside: Beside) -> list[Part]:
    """Parts of the labeled images besides the one that the run itself may have held out, for want of test images."""
    config, data = beside.config, beside.config.data
    if not trains_quickly(config):
        return []
    if data.get("folds"):
        scan = beside.scan or scan_folder(data.root, data.labels)
        parts = [Part(data.folds, each.fold) for each in parts_that_can_test(scan.label_by_content, data.folds)]
        return [part for part in parts if part.fold != config.fold]
    folds = num_parts(beside.record.labeled_per_class) if config.verdict.action == "choose" else 0
    return [Part(folds, number) for number in range(folds)]


def pooled(pairs: Sequence[Pair]) -> HeldOut:
    """Every part with labels of its own."""
    errors = PairedErrors.pooled(pair.errors for pair in pairs)
    alone, runs = zip(*pairs, strict=True)
    return HeldOut(errors, least_surprise(runs), least_surprise(alone), len(pairs))


def least_surprise(records: Sequence[Record]) -> float | None:
    """Over all images of several tests, at the best temperature for all of them; None if a network has diverged."""
    if not all(is_finished(each) and each.surprise for each in records):
        return None
    return least([each.surprise for each in records], [each.num_test for each in records])


def is_finished(record: Record) -> bool:
    return record.status == "finished"


def time_until(deadline: float) -> str:
    """As hours:minutes:seconds."""
    left = int(deadline - monotonic())
    if left <= 0:
        raise Interruption("max_time")
    return f"{left // 3600}:{left // 60 % 60}:{left % 60}"
