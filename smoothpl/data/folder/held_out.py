"""Held-out parts: a folder without test images is tested on some of its labeled ones."""

from collections import Counter

from smoothpl.cli.messages import first_few
from smoothpl.errors import ConfigError, require

MOST_FOLDS = 10


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


def division(label: dict[str, str], usual: int) -> tuple[int, int]:
    """How many parts to divide the labeled images (class names by content) into, and the first part that can test.

    As near to the usual number as possible, and one with which every part can test is better: a class may have so few
    labels that holding out a part would leave it with none.
    """
    best = (0.0, usual, 0)
    for folds in sorted(range(2, MOST_FOLDS + 1), key=lambda each: (abs(each - usual), each)):
        working = [fold for fold in range(folds) if can_hold_out(label, folds, fold)]
        share = len(working) / folds
        if share > best[0]:
            best = (share, folds, working[0])
    few = sorted(name for name, number in Counter(label.values()).items() if number == 1)
    require(
        best[0] > 0,
        f"too few labeled images ({len(label)}) to hold some out for testing"
        + (f", and only one of {first_few(few)}" if few else "")
        + "; label at least two of each class, or put images into test/<class>/.",
    )
    return best[1], best[2]


def can_hold_out(label: dict[str, str], folds: int, fold: int) -> bool:
    try:
        return bool(hold_out(label, folds, fold))
    except ConfigError:
        return False


def hold_out(label: dict[str, str], folds: int, fold: int) -> set[str]:
    """Part `fold` of the labeled images: by their contents alone, so that adding a label moves no other image."""
    require(fold < folds, f"fold={fold} must be below data.folds={folds}: the labeled images have that many parts.")
    held = {each for each in label if int(each[:8], 16) % folds == fold}
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
