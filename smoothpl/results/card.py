"""A run as a thing to hand over: what it was made of, what it can do, and what it cannot."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path

import torch
from torch import Tensor

from smoothpl.errors import ConfigError, require
from smoothpl.metrics.confusion import class_accuracy, collapsed_classes, error_rate
from smoothpl.metrics.interval import describe_interval
from smoothpl.plots.confusion import draw_confusion
from smoothpl.record.record import Record
from smoothpl.results.figures import Drawing, draw
from smoothpl.results.reporting import Report, Section
from smoothpl.results.sheets import Cell, Column, Sheet, number
from smoothpl.results.summary import describe_since

KNOBS = ("method", "threshold", "unlabeled_weight", "batch_size", "unlabeled_ratio", "max_steps", "ema_decay", "seed")
PAIR = [Column("what", is_number=False), Column("value", is_number=False)]
MOST_CLASSES = 30
"""Whose confusion is drawn."""
LEGEND = (
    "Errors are those of the averaged network at the last step; 95 %: Wilson's interval for the error on other images "
    "of the same kind. Collapsed: all but never predicted, though there are test images of this class."
)


def card(records: Sequence[Record], places: Sequence[Path], with_pictures: bool = True) -> Report:
    """Of one run, or of runs on other folds of the same recipe, whose test images are then taken together."""
    first = records[0]
    for record, place in zip(records, places, strict=True):
        require(
            record.recipe == first.recipe and record.config["seed"] == first.config["seed"],
            f"{places[0]} and {place} are of different recipes or seeds; a card is of one. To compare: "
            "python -m smoothpl.report.",
        )
        require(
            record.status == "finished" and bool(record.confusion),
            f"{place} is {record.status}; a card is of what is finished. Go on with it: resume={place}.",
        )
    folds = {record.config["fold"] for record in records}
    if len(records) > 1 and (len(folds) < len(records) or not all(record.tested_on for record in records)):
        raise ConfigError(
            "these runs were tested on the same images, which cannot be counted twice; name one of them. Only parts of "
            "the labels that were held out (data=folder without test images) are taken together."
        )
    confusion = torch.stack([torch.tensor(record.confusion) for record in records]).sum(dim=0)
    sections = [
        Section("What it can do", sentences(records, confusion), [facts(records, confusion)]),
        Section("Classes", sheets=[classes(first, confusion)], drawings=drawings(first, confusion, with_pictures)),
        Section("Configuration", sheets=[knobs(first)]),
    ]
    return Report(f"Card of {first.name or places[0].name}", about(records), LEGEND, sections, [])


def about(records: Sequence[Record]) -> str:
    first = records[0]
    made = f"smoothpl {first.versions.get('smoothpl', '?')}, torch {first.versions.get('torch', '?')}"
    return f"{first.config['benchmark']}, begun {first.started}, {first.status}; {made}, commit {first.commit}."


def sentences(records: Sequence[Record], confusion: Tensor) -> list[str]:
    """What a reader must not miss."""
    first = records[0]
    total = int(confusion.sum())
    words = [
        f"Error {error_rate(confusion):.2f} % of {total} {first.tested_on or 'test images'}"
        f"{f' and {len(records) - 1} parts more' if len(records) > 1 else ''}; "
        f"95 %: {describe_interval(total - int(confusion.trace()), total)}."
    ]
    collapsed = [first.class_names[c] for c in collapsed_classes(confusion)]
    words += [f"COLLAPSED, and not to be trusted: {', '.join(collapsed)}."] if collapsed else []
    unseen = [name for name, count in zip(first.class_names, confusion.sum(dim=1).tolist(), strict=True) if not count]
    words += [f"Nothing is known of {', '.join(unseen)}: no test image shows one."] if unseen else []
    falls = [fall for record in records for fall in record.falls]
    words += [f"It fell suddenly {len(falls)} times in the second half of training."] if falls else []
    if first.tested_on and len(records) == 1:
        words.append("One part of few labels says little; all parts together say more: -m 'fold=range(...)'.")
    if first.tested_on and len(first.label_history) > 1:
        words.append(
            "Labels that were added later test, too, if they fall into this part: the runs before have seen these "
            "images without their labels, and if they were suggested, they are harder than others."
        )
    return words


def facts(records: Sequence[Record], confusion: Tensor) -> Sheet:
    first = records[0]
    stages = first.label_history
    history = [f"{stage.num_labels}{describe_since(stage) if len(stages) > 1 else ''}" for stage in stages]
    rows = {
        "data": str(first.config["data"].get("root") or first.config["benchmark"]),
        "classes": str(len(first.class_names)),
        "labels": ", then ".join(history) or "all",
        "labeled images": str(sum(first.labeled_per_class)),
        "test images": f"{int(confusion.sum())}" + (f" ({first.tested_on})" if first.tested_on else ""),
        "runs": str(len(records)),
        "error of each": ", ".join(f"{record.error:.2f}" for record in records if record.error is not None),
        "best, for information": ", ".join(
            f"{record.error_best:.2f}" for record in records if record.error is not None
        ),
        "calibration error": ", ".join(f"{each.calibration_error or 0:.4f}" for each in records),
        "files left out": str(first.num_left_out),
        "seconds": ", ".join(f"{record.duration or 0:.0f}" for record in records),
    }
    cells = [[Cell(key), Cell(value)] for key, value in rows.items()]
    return Sheet("What it is", PAIR, cells)


def classes(record: Record, confusion: Tensor) -> Sheet:
    """With what each class is taken for most often."""
    collapsed = collapsed_classes(confusion)
    accuracy = class_accuracy(confusion).tolist()
    rows = []
    for c, name in enumerate(record.class_names):
        wrong = confusion[c].clone()
        wrong[c] = 0
        taken_for = f"{record.class_names[int(wrong.argmax())]} ({int(wrong.max())})" if wrong.sum() else "-"
        labels = record.labeled_per_class[c] if record.labeled_per_class else None
        tested = int(confusion[c].sum())
        shown = number(None if isnan(accuracy[c]) else accuracy[c], ".1f")
        state = "collapsed" if c in collapsed else ""
        rows.append([Cell(name), number(labels, "d"), number(tested, "d"), shown, Cell(taken_for), Cell(state)])
    columns = [Column("class", is_number=False), Column("labels"), Column("tested"), Column("right, %")]
    columns += [Column("taken for", is_number=False), Column("state", is_number=False)]
    return Sheet("Every class", columns, rows)


def drawings(record: Record, confusion: Tensor, with_pictures: bool) -> list[Drawing]:
    if not with_pictures or len(record.class_names) > MOST_CLASSES:
        return []
    counts = confusion.tolist()
    words = "; ".join(f"{name}: {row}" for name, row in zip(record.class_names, counts, strict=True))
    caption = "Confusion: rows are true classes, columns predictions."
    return [draw(caption, words, lambda axes: draw_confusion(axes, counts, record.class_names), (4.8, 4.8))]


def knobs(record: Record) -> Sheet:
    config = record.config
    rows = {name: config.get(name) for name in KNOBS}
    rows |= {f"{group}.{key}": value for group in ("net", "optim") for key, value in (config.get(group) or {}).items()}
    cells = [[Cell(key), Cell(str(value))] for key, value in rows.items()]
    return Sheet("What decides most; run.json has all of it", PAIR, cells)
