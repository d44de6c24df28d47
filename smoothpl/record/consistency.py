"""Does a record fit together? Asked after its types are known to be right: sizes that would mislead, or fill memory."""

from collections.abc import Iterator
from typing import Any

from smoothpl.config.checks.numbers import LARGEST_SIDE
from smoothpl.layout import LABELS_ONLY

PARTS = ("data", "net", "views", "split")
"""Of the configuration: those that are read again when a run is used."""


def contradiction(record: Any) -> str | None:
    """The first thing in a Record that does not fit, as the rest of a sentence about the file; None if all does."""
    return next(contradictions(record), None)


def contradictions(record: Any) -> Iterator[str]:
    for part in PARTS:
        if not isinstance(record.config.get(part, {}), dict):
            yield f"is damaged: its {part} is {str(record.config[part])[:40]!r}"
    number = len(record.class_names)
    for part in ("data", "net"):
        meant = of_part(record.config, part).get("num_classes")
        if number and isinstance(meant, int) and meant != number:
            yield f"is damaged: it has {number} class names, and {part}.num_classes={meant}"
    if not all(isinstance(name, str) for name in record.class_names):
        yield "is damaged: a class name is not a text"
    if (
        number
        and record.confusion
        and (len(record.confusion) != number or any(len(row) != number for row in record.confusion))
    ):
        yield f"is damaged: its confusion matrix does not fit its {number} classes"
    for name in ("labeled_per_class", "unlabeled_per_class", "class_accuracy"):
        if number and len(getattr(record, name)) not in (0, number):
            yield f"is damaged: {name} does not fit its {number} classes"
    mentioned = {*record.collapsed, *record.labeled_as, *(c for each in record.history for c in each.collapsed)}
    if number and any(type(c) is not int or not 0 <= c < number for c in mentioned):
        yield f"is damaged: it mentions a class beyond its {number}"
    side = record.image_size
    if side and not (len(side) == 2 and all(type(each) is int and 0 < each <= LARGEST_SIDE for each in side)):
        yield f"is damaged: image_size is {str(side)[:40]}"
    if record.handed_over not in ("", LABELS_ONLY):
        yield f"is damaged: handed_over is {record.handed_over[:40]!r}"


def of_part(config: dict[str, Any], name: str) -> dict[str, Any]:
    part = config.get(name)
    return part if isinstance(part, dict) else {}
