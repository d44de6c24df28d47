"""Labels that grow: a run that goes on with more labels than it, or the trained run before it, has had.

A finished run is the parent of a new one (`labels_before`); a run that was paused goes on by itself
(`labels_until_pause`). Both are knobs that follow from `resume=<run directory> num_labels=...`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omegaconf import DictConfig

from smoothpl.errors import ConfigError, require
from smoothpl.layout import LAST_CHECKPOINT
from smoothpl.record.record import LabelStage, Record

if TYPE_CHECKING:
    from smoothpl.data import SemiSupervisedData
    from smoothpl.module import SemiSupervisedModule

OF_GROWTH = ("num_labels", "labels_before", "labels_until_pause", "data.told")


class Parent(NamedTuple):
    """The trained run, with fewer labels, that another one goes on from."""

    record: Record
    run_dir: Path

    @property
    def stages(self) -> list[LabelStage]:
        return [stage._replace(run=stage.run or str(self.run_dir)) for stage in self.record.label_history]


def more_labels(record: Record, num_labels: str) -> list[str]:
    """What another number of labels means for a run, in words of the command line."""
    config = record.config
    before, until_pause = (config.get(name, []) for name in ("labels_before", "labels_until_pause"))
    now = config.get("num_labels")
    if now is None or num_labels == str(now):
        return []
    if record.status == "finished":
        return [f"labels_before={[*before, *until_pause, now]}", "labels_until_pause=[]"]
    return [f"labels_before={before}", f"labels_until_pause={[*until_pause, now]}"]


def labels_from(first: int, step: int, num_labels: int | None) -> list[int]:
    """For YAML: the numbers of labels of the runs before, where they grow by the same step."""
    if num_labels is None or num_labels < first or (num_labels - first) % step:
        raise ConfigError(
            f"num_labels={num_labels} is not on the way of labels that grow from {first} in steps of {step}; use such "
            "a number, or set labels_before itself."
        )
    return list(range(first, num_labels, step))


def check_growth(config: DictConfig) -> None:
    before, until_pause = list(config.labels_before), list(config.labels_until_pause)
    if not before + until_pause:
        return
    knobs = {"labels_before": before, "labels_until_pause": until_pause}
    said = " and ".join(f"{name}={numbers}" for name, numbers in knobs.items() if numbers)
    require(config.num_labels is not None, f"{said} has no effect: with this split every image carries its label.")
    numbers = [*before, *until_pause, config.num_labels]
    require(
        numbers[0] > 0 and sorted({*numbers}) == numbers,
        f"{said}, then num_labels={config.num_labels}: labels can only be added; each number must be larger than the "
        "one before.",
    )
    require(
        not until_pause or config.resume is not None,
        f"{said} is what resume sets when a run goes on with more labels; leave it out.",
    )
    require(
        not until_pause or not config.data.get("folds"),
        f"data.folds={config.data.get('folds')}: labels that are added in the middle of a run could fall among those "
        "that test; finish it with the labels it has, and go on from there.",
    )
    require(
        not until_pause or can_grow(config),
        "split.unlabeled_includes_labeled=false: more labels in the middle of a run would leave other unlabeled "
        "images; go on as it is, or begin a new run.",
    )


def can_grow(config: DictConfig) -> bool:
    """Whether labels may be added in the middle of a run."""
    return config.num_labels is not None and bool(config.split.get("unlabeled_includes_labeled"))


def check_pause(config: DictConfig, start: object) -> None:
    """`start`: the checkpoint that a run goes on from."""
    require(
        not config.labels_until_pause or start is not None,
        f"labels_until_pause={list(config.labels_until_pause)}, but nothing was learned with these labels: there is no "
        f"checkpoint to go on from; begin a new run with num_labels={config.num_labels}.",
    )


def check_nested(record: Record, data: "SemiSupervisedData") -> None:
    """No label is taken back, and none is another one now."""
    before = record.labeled
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
    now = data.source.train.labels[before].tolist()
    other = [image for image, old, new in zip(before, record.labeled_as, now, strict=False) if old != new]
    require(
        not other,
        f"{len(other)} of the {len(before)} images that carried labels before have other ones now; what was learned "
        "of them cannot be taken back. Begin a new run.",
    )


def inherit(module: "SemiSupervisedModule", record: Record) -> None:
    """Both networks of the run before, live and averaged. Momentum, schedule and the memory of the method begin anew:
    they would tell of fewer labels."""
    import torch

    path = Path([stage.run for stage in record.label_history if stage.run][-1]) / LAST_CHECKPOINT
    if not path.is_file():
        raise ConfigError(
            f"{path} is not there any more to go on from; train with more labels from the start, without labels_before."
        )
    state = torch.load(path, weights_only=True, map_location="cpu")["state_dict"]
    for name in ("network", "average"):
        own = {key.removeprefix(f"{name}."): value for key, value in state.items() if key.startswith(f"{name}.")}
        getattr(module, name).load_state_dict(own)


def note_stage(record: Record, num_labels: int | None, step: int) -> None:
    """From which step on there were more labels; earlier than was noted, if a damaged checkpoint was left out."""
    if num_labels is None:
        return
    last = record.label_history[-1]
    if last.num_labels != num_labels:
        record.label_history.append(LabelStage(num_labels, step, ""))
    elif len(record.label_history) > 1 and not record.label_history[-2].run:
        record.label_history[-1] = last._replace(since=min(last.since, step))
