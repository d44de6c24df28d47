"""Labels that grow: a run that goes on with more labels than it, or the trained run before it, began with."""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omegaconf import DictConfig

from smoothpl.errors import ConfigError, require
from smoothpl.results.record import FILE_NAME, LabelStage, Record
from smoothpl.resume import AUTO, OUTPUTS, check_same, find_same, open_run

if TYPE_CHECKING:
    from smoothpl.data import SemiSupervisedData
    from smoothpl.module import SemiSupervisedModule

LAST = "last.ckpt"


class Parent(NamedTuple):
    """The trained run, with fewer labels, that another one goes on from."""

    record: Record
    run_dir: Path

    @property
    def stages(self) -> list[LabelStage]:
        return [stage._replace(run=stage.run or str(self.run_dir)) for stage in self.record.label_history]


def check_growth(config: DictConfig) -> None:
    earlier, at_start = list(config.labels_before), config.labels_at_start
    if not earlier and at_start is None:
        return
    knob = f"labels_before={earlier}" if earlier else f"labels_at_start={at_start}"
    require(config.num_labels is not None, f"{knob} has no effect: with this split every image carries its label.")
    numbers = [*earlier, *([at_start] if at_start is not None else []), config.num_labels]
    require(
        numbers[0] > 0 and sorted({*numbers}) == numbers,
        f"{knob} and num_labels={config.num_labels}: labels can only be added; each number must be larger than the one "
        "before.",
    )
    require(
        at_start is None or config.resume is not None,
        f"labels_at_start={at_start} is what resume sets when a run goes on with more labels; leave it out.",
    )
    require(
        at_start is None or config.split.unlabeled_includes_labeled,
        "split.unlabeled_includes_labeled=false: more labels in the middle of a run would leave other unlabeled "
        "images; go on as it is, or begin a new run.",
    )


def find_parent(config: DictConfig, run_dir: Path) -> Parent | None:
    """The one that was named (resume=<run directory>), or that of the same recipe, fold and seed with fewer labels."""
    if not config.labels_before:
        return None
    if (run_dir / FILE_NAME).is_file():  # this is a resume: the parent is the one of then
        stages = open_run(run_dir).label_history
        place = Path([stage.run for stage in stages if stage.run][-1])
        parent = Parent(open_run(place), place)
    elif config.resume not in (None, AUTO):
        place = Path(config.resume).resolve()
        parent = Parent(open_run(place), place)
        check_same(parent.record, config, "num_labels", "labels_before", "labels_at_start")
    else:
        parent = look_for_parent(config)
    if not (parent.run_dir / LAST).is_file():
        raise ConfigError(
            f"{parent.run_dir} has no {LAST} to go on from; train with num_labels={config.num_labels} from the start, "
            "without labels_before."
        )
    return parent


def look_for_parent(config: DictConfig) -> Parent:
    *earlier, before = config.labels_before
    wanted = deepcopy(config)
    wanted.num_labels, wanted.labels_before = before, earlier
    found = find_same(wanted, Path(OUTPUTS))
    if found is None or found[0].status != "finished":
        state = "there is none" if found is None else f"that in {found[1]} is {found[0].status}"
        raise ConfigError(
            f"labels_before={list(config.labels_before)} goes on from a finished run of the same recipe with {before} "
            f"labels, fold={config.fold} and seed={config.seed} below {OUTPUTS}/, and {state}; make it first, with "
            f"num_labels={before} labels_before={earlier}, or name another: resume=<run directory>."
        )
    return Parent(*found)


def inherit(module: "SemiSupervisedModule", parent: Parent) -> None:
    """Both networks, live and averaged. Momentum, schedule and the memory of the method begin anew: they would tell of
    fewer labels."""
    import torch

    state = torch.load(parent.run_dir / LAST, weights_only=True, map_location="cpu")["state_dict"]
    for name in ("network", "average"):
        own = {key.removeprefix(f"{name}."): value for key, value in state.items() if key.startswith(f"{name}.")}
        getattr(module, name).load_state_dict(own)


def check_nested(before: Sequence[int], data: "SemiSupervisedData") -> None:
    """No label is taken back."""
    if not before:
        return
    data.setup("fit")
    lost = sorted({*before} - {*data.fold.labeled.tolist()})
    if lost:
        raise ConfigError(
            f"{len(lost)} of the {len(before)} images that carried labels before, image {lost[0]} among them, would "
            "carry them no more; labels grow within one fold, of the same data and a split that is nested: "
            "split=balanced or split=random."
        )


def note_stage(record: Record, num_labels: int | None, step: int) -> None:
    """From which step on there were more labels; earlier than was noted, if a damaged checkpoint was left out."""
    if num_labels is None:
        return
    last = record.label_history[-1]
    if last.num_labels != num_labels:
        record.label_history.append(LabelStage(num_labels, step, ""))
    else:
        record.label_history[-1] = last._replace(since=min(last.since, step))
