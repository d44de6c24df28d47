"""More labels: a run that continues with more labels than it, or the trained run before it, had.

A finished run is the parent of a new one, which starts from its weights (`labels_before`); a run that was paused is
resumed in place (`labels_until_pause`). Both are knobs that follow from `resume=<run directory> num_labels=...`.
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

OF_GROWTH = ("num_labels", "labels_before", "labels_until_pause", "data.labels_digest")


class Parent(NamedTuple):
    """The trained run, with fewer labels, whose weights another one starts from."""

    record: Record
    run_dir: Path

    @property
    def stages(self) -> list[LabelStage]:
        return [stage._replace(run=stage.run or str(self.run_dir)) for stage in self.record.label_history]


def knobs_of_more_labels(record: Record, num_labels: str) -> dict[str, list[int]]:
    """What another number of labels means for a run: the knobs that tell of the labels before."""
    config = record.config
    before, until_pause = (config.get(name, []) for name in ("labels_before", "labels_until_pause"))
    now = config.get("num_labels")
    if now is None or num_labels == str(now):
        return {}
    if record.status == "finished":
        return {"labels_before": [*before, *until_pause, now], "labels_until_pause": []}
    return {"labels_before": before, "labels_until_pause": [*until_pause, now]}


def check_pause(config: DictConfig, start: object) -> None:
    """`start`: the checkpoint that a run is resumed from."""
    require(
        not config.labels_until_pause or start is not None,
        f"labels_until_pause={list(config.labels_until_pause)}, but nothing was learned with these labels: there is no "
        f"checkpoint to resume from; start a new run with num_labels={config.num_labels}.",
    )


def check_nested(record: Record, data: "SemiSupervisedData") -> None:
    """No label is removed, and none has changed."""
    before = record.labeled
    if not before:
        return
    data.setup("fit")
    lost = sorted({*before} - {*data.fold.labeled.tolist()})
    if lost:
        raise ConfigError(
            f"{len(lost)} of the {len(before)} images that carried labels before, image {lost[0]} among them, would "
            "carry none now; labels are added within one fold, of the same data and a nested split: split=balanced or "
            "split=random."
        )
    now = data.source.train.labels[before].tolist()
    other = [image for image, old, new in zip(before, record.labeled_as, now, strict=False) if old != new]
    require(
        not other,
        f"{len(other)} of the {len(before)} images that carried labels before have other labels now; what was learned "
        "cannot be unlearned. Start a new run.",
    )


def inherit(module: "SemiSupervisedModule", record: Record) -> None:
    """Both networks of the run before, live and averaged. Momentum, schedule and the memory of the method start from
    scratch: they belong to fewer labels."""
    import torch

    path = Path([stage.run for stage in record.label_history if stage.run][-1]) / LAST_CHECKPOINT
    if not path.is_file():
        raise ConfigError(
            f"{path} is gone, whose weights this run starts from; train with all labels from scratch, without "
            "labels_before."
        )
    state = torch.load(path, weights_only=True, map_location="cpu")["state_dict"]
    for name in ("network", "average"):
        own = {key.removeprefix(f"{name}."): value for key, value in state.items() if key.startswith(f"{name}.")}
        getattr(module, name).load_state_dict(own)


def note_stage(record: Record, num_labels: int | None, step: int) -> None:
    """From which step on there were more labels; earlier than was noted, if a damaged checkpoint was skipped."""
    if num_labels is None:
        return
    last = record.label_history[-1]
    if last.num_labels != num_labels:
        record.label_history.append(LabelStage(num_labels, step, ""))
    elif len(record.label_history) > 1 and not record.label_history[-2].run:
        record.label_history[-1] = last._replace(since=min(last.since, step))
