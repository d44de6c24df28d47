"""The card of a run: what it was made of, what it can do, and what it cannot."""

import os
import re
from collections.abc import Sequence
from math import isnan
from pathlib import Path

import torch
from torch import Tensor

from smoothpl.config.data_name import data_name
from smoothpl.errors import ConfigError, require
from smoothpl.metrics.confusion import balanced_error, class_accuracy, collapsed_classes, error_rate
from smoothpl.metrics.coverage import describe_alarm
from smoothpl.metrics.interval import describe_interval
from smoothpl.plots.confusion import draw_confusion, row_shares
from smoothpl.record.record import Record
from smoothpl.results import unlabeled
from smoothpl.results.chart import Chart, draw
from smoothpl.results.class_sheets import Sizes
from smoothpl.results.photographs import photographs
from smoothpl.results.report import Report, Section
from smoothpl.results.runs import unlabeled_per_class
from smoothpl.results.sentences import count
from smoothpl.results.sheets import Cell, Column, Sheet, number
from smoothpl.results.summary import describe_since
from smoothpl.results.verdict import verdict

AUTOMATIC = re.compile(r"\d{4}-\d\d-\d\d_|fold=|outputs$|sweeps$")
"""How the name of a directory begins that nobody has chosen."""
KNOBS = ("method", "threshold", "unlabeled_weight", "batch_size", "unlabeled_ratio", "max_steps", "ema_decay", "seed")
OF_GROUPS = ("net", "optim", "finetune")
PAIR = [Column("what", is_number=False), Column("value", is_number=False)]
MOST_CLASSES = 30
"""Classes up to which the confusion is drawn."""
PHOTOGRAPHS_SHOWN = (
    "Test images as the network sees them, those that it was surest of: first recognised ones, then mistaken ones with "
    "the class that they were taken for."
)
LEGEND = (
    "Errors are those of the averaged network at the last step; 95 % interval: Wilson's interval for the error on "
    "other images of the same kind. Collapsed: rarely predicted, although there are test images of this class."
)


def card(records: Sequence[Record], places: Sequence[Path], with_pictures: bool = True) -> Report:
    """The card of one run, or of runs of one recipe on different folds, whose test images are pooled."""
    check(records, places)
    title, on_unlabeled = own_name(records[0], places), [each for one in records for each in unlabeled.sentences(one)]
    records, places = zip(*map(unlabeled.handed_over, records, places), strict=True)
    first = records[0]
    confusion = torch.stack([torch.tensor(record.confusion) for record in records]).sum(dim=0)
    shown = photographs(places, first.class_names) if with_pictures else []
    said = [*dict.fromkeys(on_unlabeled), *sentences(records, confusion)]
    sections = [
        Section("What it can do", said, [facts(records, confusion)]),
        Section("Classes", sheets=[classes(first, confusion)], charts=charts(first, confusion, with_pictures)),
        *([Section("Photographs", [PHOTOGRAPHS_SHOWN], photographs=shown)] if shown else []),
        Section("Configuration", sheets=[knobs(first)]),
    ]
    return Report(title, about(records), LEGEND, sections, [])


def own_name(record: Record, places: Sequence[Path]) -> str:
    """The name of the directory, if somebody has chosen it, and else that of the recipe."""
    resolved = [place.resolve() for place in places]
    name = (resolved[0] if len(resolved) == 1 else Path(os.path.commonpath(resolved))).name
    return record.name if record.name and (AUTOMATIC.match(name) or not name) else name


def check(records: Sequence[Record], places: Sequence[Path]) -> None:
    first = records[0]
    for record, place in zip(records, places, strict=True):
        require(
            record.recipe == first.recipe and record.config["seed"] == first.config["seed"],
            f"{places[0]} and {place} differ in recipe or seed, and a card shows one; to compare them: "
            "smoothpl report.",
        )
        require(
            record.status == "finished" and bool(record.confusion),
            f"{place} is {record.status}; only a finished run has a card. To continue it: resume={place}.",
        )
    folds = {record.config["fold"] for record in records}
    if len(records) > 1 and (len(folds) < len(records) or not all(record.tested_on for record in records)):
        raise ConfigError(
            "these runs were tested on the same images, which cannot be counted twice; name one of them. Runs are "
            "pooled only if each tests on held-out labels of its own (data=folder without test images)."
        )


def about(records: Sequence[Record]) -> str:
    first = records[0]
    versions = f"smoothpl {first.versions.get('smoothpl', '?')}, torch {first.versions.get('torch', '?')}"
    return f"{data_name(first.config)}, started {first.started}, {first.status}; {versions}, commit {first.commit}."


def sentences(records: Sequence[Record], confusion: Tensor) -> list[str]:
    """What a reader must not miss."""
    first = records[0]
    total = int(confusion.sum())
    found = [
        verdict(confusion, first.class_names),
        f"Error {error_rate(confusion):.2f} % of {total} {describe_test(records)}; "
        f"95 % interval: {describe_interval(total - int(confusion.trace()), total)}.",
    ]
    if sizes_of(first, confusion).is_uneven:
        found.append(f"Balanced error {balanced_error(confusion):.2f} %: the mean of the errors of the classes.")
    collapsed = [first.class_names[c] for c in collapsed_classes(confusion)]
    found += [f"COLLAPSED, not to be trusted: {', '.join(collapsed)}."] if collapsed else []
    found += [f"Step {each.step}: {describe_alarm(each, first.class_names)}." for each in first.alarms]
    unseen = [name for name, tested in zip(first.class_names, confusion.sum(dim=1).tolist(), strict=True) if not tested]
    found += [f"Nothing is known about {', '.join(unseen)}: no test images."] if unseen else []
    rises = sum(len(record.instability) for record in records)
    found += [f"The error rose suddenly {count(rises, 'time')} in the second half of training."] if rises else []
    if first.tested_on and len(records) == 1:
        found.append("One part of few labels says little; all parts together say more: -m 'fold=range(...)'.")
    if first.tested_on and len(first.label_history) > 1:
        found.append(
            "Labels that were added later may be among the test images: earlier runs have seen these images without "
            "their labels, and suggested images are harder than others."
        )
    return found


def describe_test(records: Sequence[Record]) -> str:
    """What the errors are counted on, after their number."""
    others = f" and {count(len(records) - 1, 'other part')}" if len(records) > 1 else ""
    return (records[0].tested_on or "test images") + others


def facts(records: Sequence[Record], confusion: Tensor) -> Sheet:
    first = records[0]
    stages = first.label_history
    history = [f"{stage.num_labels}{describe_since(stage) if len(stages) > 1 else ''}" for stage in stages]
    rows = {
        "recipe": first.name or first.recipe,
        "data": str(first.config["data"].get("root") or data_name(first.config)),
        "classes": str(len(first.class_names)),
        "labels": ", then ".join(history) or describe_labels(first),
        "labeled images": str(sum(first.labeled_per_class)),
        "unlabeled images": describe_unlabeled(first),
        "test images": f"{int(confusion.sum())}" + (f" ({describe_test(records)})" if first.tested_on else ""),
        "runs": str(len(records)),
        "error of each, %": listed([record.error for record in records], ".2f"),
        "best, for information": listed([record.error_best for record in records], ".2f"),
        "calibration error": listed([record.calibration_error for record in records], ".4f"),
        "files skipped": str(first.num_left_out),
        "seconds": listed([record.duration for record in records], ".0f"),
    }
    cells = [[Cell(key), Cell(value)] for key, value in rows.items()]
    return Sheet("What it is", PAIR, cells)


def describe_labels(record: Record) -> str:
    """Where the number was not chosen: it follows from the split."""
    return str(len(record.labeled)) if "labeled_head" in (record.config.get("split") or {}) else "all"


def describe_unlabeled(record: Record) -> str:
    if record.config.get("unlabeled_ratio") == 0:
        return "none"
    if not record.num_unlabeled:
        return "not recorded"
    both = (record.config.get("split") or {}).get("unlabeled_includes_labeled")
    return f"{record.num_unlabeled}" + (", the labeled ones among them" if both else "")


def listed(values: Sequence[float | None], form: str) -> str:
    return ", ".join(number(value, form).text for value in values)


def classes(record: Record, confusion: Tensor) -> Sheet:
    """Labels, test images and accuracy of each class, and what it is mistaken for most often; uneven classes stand in
    their order from the head to the tail."""
    collapsed = collapsed_classes(confusion)
    accuracy = class_accuracy(confusion).tolist()
    sizes = sizes_of(record, confusion)
    rows = []
    for c in sizes.order if sizes.is_uneven else range(len(record.class_names)):
        name = record.class_names[c]
        wrong = confusion[c].clone()
        wrong[c] = 0
        mistaken_for = f"{record.class_names[int(wrong.argmax())]} ({int(wrong.max())})" if wrong.sum() else "-"
        labels = record.labeled_per_class[c] if record.labeled_per_class else None
        tested = int(confusion[c].sum())
        correct = number(None if isnan(accuracy[c]) else accuracy[c], ".1f")
        state = "collapsed" if c in collapsed else ""
        rows.append([Cell(name), number(labels, "d"), number(tested, "d"), correct, Cell(mistaken_for), Cell(state)])
    columns = [Column("class", is_number=False), Column("labels"), Column("tested"), Column("correct, %")]
    columns += [Column("mistaken for", is_number=False), Column("state", is_number=False)]
    return Sheet("Every class", columns, rows)


def sizes_of(record: Record, confusion: Tensor) -> Sizes:
    return Sizes(record.labeled_per_class, unlabeled_per_class(record), confusion.sum(dim=1).tolist())


def charts(record: Record, confusion: Tensor, with_pictures: bool) -> list[Chart]:
    if not with_pictures or len(record.class_names) > MOST_CLASSES:
        return []
    names, counts = record.class_names, confusion.tolist()
    description = "; ".join(f"{name}: {row}" for name, row in zip(names, counts, strict=True))
    caption = "Confusion: rows are true classes, columns predictions, numbers test images."
    return [
        draw(
            caption,
            description,
            lambda axes: draw_confusion(axes, row_shares(counts), names, numbers=counts),
            (5.2, 4.2),
        )
    ]


def knobs(record: Record) -> Sheet:
    config = record.config
    rows = {name: config.get(name) for name in KNOBS}
    backbone = config.get("backbone") or {}
    if backbone:
        rows["backbone"] = ", ".join(backbone.get("encoders") or {})
        rows |= {f"backbone.{key}": value for key, value in backbone.items() if key != "encoders"}
    rows |= {f"{group}.{key}": value for group in OF_GROUPS for key, value in (config.get(group) or {}).items()}
    cells = [[Cell(key), Cell(str(value))] for key, value in rows.items()]
    return Sheet("The main settings; run.json has all of them", PAIR, cells)
