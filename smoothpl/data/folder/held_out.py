"""Held-out parts: a folder without test images is tested on some of its labeled ones."""

from collections import Counter
from typing import NamedTuple

from smoothpl.cli.messages import first_few
from smoothpl.errors import ConfigError, require
from smoothpl.metrics.interval import interval

MOST_FOLDS = 10
MANY_LABELS = 40
TELLING = 20
"""Test images: with fewer, the interval of the error is so wide that it must be said."""


def check_test(folds: int, fold: int, has_test: bool, root: str) -> None:
    if has_test:
        require(folds == 0, f"data.folds={folds} has no effect: data.root={root} has test images; use data.folds=0.")
        require(fold == 0, f"fold={fold} has no effect: data.root={root} has test images; leave it out.")
    else:
        require(
            folds > 1,
            f"data.folds={folds}, but data.root={root} has no test images; hold out labeled ones: data.folds=5, or put "
            "images into test/<class>/.",
        )


class Division(NamedTuple):
    """How many parts the labeled images are divided into, the part that tests, and how many images that has."""

    folds: int
    fold: int
    num_held_out: int


def division(label: dict[str, str], usual: int, typed: int | None = None) -> Division:
    """How to divide the labeled images (class names by content): by what is left to learn from.

    Parts are made by content, so that a few labels fall into very uneven ones. With few labels, that part of all
    divisions is taken which leaves most classes half of their labels or more and is nearest to a usual one. With
    MANY_LABELS there is the usual number of parts, or the nearest with which more of them can test, and the first part
    that is not far too large or too small. `typed`: the part that was asked for, if it was.
    """
    parts = [part for folds in range(2, MOST_FOLDS + 1) for part in parts_that_can_test(label, folds)]
    few = sorted(name for name, number in Counter(label.values()).items() if number == 1)
    require(
        bool(parts),
        f"too few labeled images ({len(label)}) to hold some out for testing"
        + (f", and only one of {first_few(few)}" if few else "")
        + "; label at least two of each class, or put images into test/<class>/.",
    )
    parts = [part for part in parts if part.fold == typed] or parts
    working = Counter(part.folds for part in parts)
    wanted = len(label) / usual
    if len(label) < MANY_LABELS:
        starved = {part: num_starved(label, part) for part in parts}
        return min(parts, key=lambda each: (starved[each], abs(each.num_held_out - wanted), abs(each.folds - usual)))
    folds = min(working, key=lambda each: (-working[each] / each, abs(each - usual), each))
    parts = [part for part in parts if part.folds == folds]
    even = [part for part in parts if 0.5 <= part.num_held_out * folds / len(label) <= 1.5]
    return (even or parts)[0]


def parts_that_can_test(label: dict[str, str], folds: int) -> list[Division]:
    return [
        Division(folds, fold, len(hold_out(label, folds, fold)))
        for fold in range(folds)
        if can_hold_out(label, folds, fold)
    ]


def num_starved(label: dict[str, str], part: Division) -> int:
    """Classes that would lose more than half of their labels."""
    lost = Counter(label[each] for each in hold_out(label, part.folds, part.fold))
    return sum(2 * lost[name] > number for name, number in Counter(label.values()).items())


def meaning(label: dict[str, str], folds: int, fold: int) -> str:
    """What it means that labels are held out, in a few sentences."""
    held = len(hold_out(label, folds, fold))
    said = f"No test images: {held} of {len(label)} labels are held out to test (part {fold} of {folds}), "
    said += f"{len(label) - held} train."
    others = [each.fold for each in parts_that_can_test(label, folds)]
    if len(others) > 1:
        said += f" Part after part: -m fold={','.join(map(str, others))}."
    if held < TELLING:
        _, highest = interval(0, held)
        said += f" So few say little: with none of them wrong, the error may still be {highest:.0f} %."
        said += " Label more, or put images into test/<class>/."
    return said


def can_hold_out(label: dict[str, str], folds: int, fold: int) -> bool:
    try:
        return bool(hold_out(label, folds, fold))
    except ConfigError:
        return False


def hold_out(label: dict[str, str], folds: int, fold: int) -> set[str]:
    """Part `fold` of the labeled images: by their contents alone, so that adding a label moves no other image."""
    require(fold < folds, f"fold={fold} must be below data.folds={folds}: the labeled images have that many parts.")
    held = {each for each in label if is_held_out(each, folds, fold)}
    if not held:
        raise ConfigError(
            f"fold={fold} of data.folds={folds} holds out no labeled image ({len(label)} have labels); use another "
            "fold, fewer data.folds, or label more images."
        )
    left = {name for each, name in label.items() if each not in held}
    gone = sorted({*label.values()} - left)
    require(
        not gone,
        f"fold={fold} of data.folds={folds} holds out every label of {', '.join(gone)}; use another fold, more "
        "data.folds, or label more images.",
    )
    return held


def is_held_out(content: str, folds: int, fold: int) -> bool:
    """Whether a labeled image, by the digest of its content, is in part `fold`; without parts (0) none is."""
    return folds > 0 and int(content[:8], 16) % folds == fold
