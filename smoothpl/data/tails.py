"""Fold with long tails: class sizes that fall geometrically, those of labeled and of unlabeled images apart."""

import torch
from torch import Tensor

from smoothpl.data.folds import Fold, all_but, checked_by, count_classes, draw_per_class
from smoothpl.data.randomness import Stream, generator
from smoothpl.data.source import UNKNOWN
from smoothpl.errors import ConfigError, require


def check_tails(
    labeled_head: int,
    labeled_tail: float,
    unlabeled_head: int | None,
    unlabeled_tail: float | None,
    **_: object,
) -> None:
    require(labeled_tail >= 1, f"split.labeled_tail={labeled_tail} must be 1 (no tail) or more: first class over last.")
    check_last("labeled", labeled_head, labeled_tail)
    if unlabeled_head is None or unlabeled_tail is None:
        require(
            unlabeled_head is unlabeled_tail,
            f"split.unlabeled_head={unlabeled_head} and split.unlabeled_tail={unlabeled_tail}: give both, or neither "
            "(null), and every image without a label is unlabeled.",
        )
        return
    require(
        unlabeled_tail >= 1 or unlabeled_tail < -1,
        f"split.unlabeled_tail={unlabeled_tail} must be 1 (no tail) or more, largest class over smallest, or below -1 "
        "for the reversed tail, whose largest class is the last.",
    )
    check_last("unlabeled", unlabeled_head, abs(unlabeled_tail))


def check_last(name: str, head: int, tail: float) -> None:
    """The smallest class must not be empty."""
    require(
        head >= tail,
        f"split.{name}_head={head} with split.{name}_tail={tail:g} leaves nothing of the smallest class; use a "
        f"{name}_head of {tail:g} or more, or a smaller tail.",
    )


@checked_by(check_tails)
def long_tailed(
    labels: Tensor,
    num_classes: int,
    fold: int,
    unlabeled_includes_labeled: bool,
    labeled_head: int,
    labeled_tail: float,
    unlabeled_head: int | None,
    unlabeled_tail: float | None,
) -> Fold:
    """The first class has `labeled_head` labels and `labeled_tail` times as many as the last, the others in between.

    Unlabeled images likewise, drawn from those without a label; a negative tail is reversed. The labeled images stay
    unlabeled too with `unlabeled_includes_labeled`, over and above these numbers.
    """
    wanted = class_sizes(labeled_head, labeled_tail, num_classes)
    check_enough(count_classes(labels, num_classes), wanted, "labeled")
    labeled = draw_per_class(labels, wanted, generator(fold, Stream.FOLD))
    if unlabeled_head is None or unlabeled_tail is None:
        return Fold(labeled, all_but(labeled, len(labels), unlabeled_includes_labeled))
    if (labels == UNKNOWN).any():
        raise ConfigError(
            f"split.unlabeled_head={unlabeled_head} must know the class of every training image, and here some are "
            "unknown; use split.unlabeled_head=null split.unlabeled_tail=null."
        )
    others = all_but(labeled, len(labels), includes_labeled=False)
    wanted = class_sizes(unlabeled_head, unlabeled_tail, num_classes)
    check_enough(count_classes(labels[others], num_classes), wanted, "unlabeled")
    unlabeled = others[draw_per_class(labels[others], wanted, generator(fold, Stream.IMBALANCE))]
    return Fold(labeled, torch.cat([labeled, unlabeled]).sort().values if unlabeled_includes_labeled else unlabeled)


def class_sizes(head: int, tail: float, num_classes: int) -> Tensor:
    """(C,): floor(head |tail|^(-c / (C - 1))), as DARP and ABC count; from the last class to the first if tail < 0."""
    ratio = abs(tail)
    factor = (1 / ratio) ** (1 / max(1, num_classes - 1))
    sizes = [int(head * factor**c) for c in range(num_classes - 1)]
    sizes.append(int(head / ratio))  # exact: the power above may fall just short of a whole number
    return torch.tensor(sizes if tail > 0 else sizes[::-1])


def check_enough(available: Tensor, wanted: Tensor, name: str) -> None:
    short = (available < wanted).nonzero().squeeze(1).tolist()
    if short:
        c, head = short[0], int(wanted.max())
        left = " that carry no label" if name == "unlabeled" else ""
        raise ConfigError(
            f"split.{name}_head={head} asks for {int(wanted[c])} images of class {c}, which has {int(available[c])}"
            f"{left}; use split.{name}_head={int(head * (available / wanted).min())} or less."
        )
