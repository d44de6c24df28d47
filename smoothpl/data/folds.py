"""Fold: which images carry labels. A pure function of the labels, how many are wanted, and the fold's number."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from smoothpl.data.randomness import Stream, generator
from smoothpl.data.source import HELD_OUT, UNKNOWN
from smoothpl.errors import ConfigError, require

Split = TypeVar("Split", bound=Callable[..., Any])
PAPER_SIZES = range(40, 160, 10)
"""Numbers of random labels in the paper's figure: 40, 50, ..., 150."""
PAPER_FOLDS = range(6)


class Fold(NamedTuple):
    """Indices into the training images: labeled (num_labels,), unlabeled (N,); both sorted."""

    labeled: Tensor
    unlabeled: Tensor


def checked_by(check: Callable[..., None]) -> Callable[[Split], Split]:
    """Gives a split a check of its own settings, which is called before any image is read (run/build.py)."""

    def with_check(split: Split) -> Split:
        split.check = check  # type: ignore[attr-defined]
        return split

    return with_check


def check_even(num_labels: int, num_classes: int, **_: object) -> None:
    near = max(num_classes, round(num_labels / num_classes) * num_classes)
    require(
        num_labels % num_classes == 0,
        f"num_labels={num_labels} does not divide evenly among {num_classes} classes; use a multiple of {num_classes}, "
        f"for example num_labels={near}, or split=random.",
    )


def check_imbalance(
    num_labels: int,
    num_classes: int,
    keep: float,
    num_thinned: int,
    labeled_tail: float,
    unlabeled_tail: float,
    **_: object,
) -> None:
    require(0 < keep <= 1, f"split.keep={keep} must lie in (0, 1]: the share that is kept.")
    require(
        0 <= num_thinned <= num_classes,
        f"split.num_thinned={num_thinned} must be a number of classes, from 0 to {num_classes}.",
    )
    for name, tail in {"labeled_tail": labeled_tail, "unlabeled_tail": unlabeled_tail}.items():
        require(tail >= 1, f"split.{name}={tail} must be 1 (no tail) or more: first class over last.")
    require(
        num_thinned * (keep < 1) + (labeled_tail > 1) + (unlabeled_tail > 1) > 0,
        "split=imbalanced with these values is balanced; use split=balanced.",
    )
    if labeled_tail == 1:
        check_even(num_labels, num_classes)


@checked_by(check_even)
def balanced(labels: Tensor, num_labels: int, num_classes: int, fold: int, unlabeled_includes_labeled: bool) -> Fold:
    """The same number of labels for every class, drawn without replacement (paper, Sec. 4.1).

    `unlabeled_includes_labeled`: the paper's notation keeps L and U apart; the code it ran on does not, and learns
    pseudo-labels for the labeled images too.
    """
    per_class = torch.full((num_classes,), num_labels // num_classes)  # exact: check_even has seen to it
    labeled = draw_per_class(labels, per_class, generator(fold, Stream.FOLD))
    return Fold(labeled, all_but(labeled, len(labels), unlabeled_includes_labeled))


def random(labels: Tensor, num_labels: int, fold: int, unlabeled_includes_labeled: bool) -> Fold:
    """Any images, uniformly from the whole set, as one would label them in practice (paper, Sec. 4.5).

    Nested: a fold's 40 labels are among its 50. A class may end up without any label, and stays in the classifier.
    """
    known = (labels >= 0).nonzero().squeeze(1)
    if num_labels > len(known):
        raise ConfigError(
            f"num_labels={num_labels}, but only {len(known)} training images have labels; use at most that many."
        )
    order = generator(fold, Stream.FOLD).permutation(len(known))
    labeled = known[torch.from_numpy(order[:num_labels])].sort().values
    return Fold(labeled, all_but(labeled, len(labels), unlabeled_includes_labeled))


def full(labels: Tensor) -> Fold:
    """All labels there are: what a method with few labels is finally compared with."""
    return Fold((labels >= 0).nonzero().squeeze(1), torch.arange(len(labels)))


def given(labels: Tensor, unlabeled_includes_labeled: bool) -> Fold:
    """All labels of a folder of one's own; held-out images are in neither part."""
    is_unlabeled = labels != HELD_OUT if unlabeled_includes_labeled else labels == UNKNOWN
    return Fold((labels >= 0).nonzero().squeeze(1), is_unlabeled.nonzero().squeeze(1))


@checked_by(check_imbalance)
def imbalanced(
    labels: Tensor,
    num_labels: int,
    num_classes: int,
    fold: int,
    unlabeled_includes_labeled: bool,
    keep: float,
    num_thinned: int,
    labeled_tail: float,
    unlabeled_tail: float,
) -> Fold:
    """Labels and unlabeled images that disagree about the classes (paper, Sec. 4.3.3).

    `num_thinned` classes, chosen at random for each fold, keep only the share `keep` of their unlabeled images. With
    `labeled_tail` or `unlabeled_tail` above 1 the classes form a geometric tail: the first is that many times as
    frequent as the last. The labeled images are those of the balanced fold of the same number when there is no tail.
    """
    if (labels == UNKNOWN).any():
        raise ConfigError(
            "split=imbalanced must know the class of every training image, and here some are unknown; "
            "use split=balanced or split=random."
        )
    chance = generator(fold, Stream.FOLD)
    labeled = draw_per_class(labels, share_out(num_labels, geometric(num_classes, labeled_tail)), chance)
    chance = generator(fold, Stream.IMBALANCE)
    share = geometric(num_classes, unlabeled_tail) / geometric(num_classes, unlabeled_tail)[0]
    share[chance.permutation(num_classes)[:num_thinned]] *= keep
    candidates = all_but(labeled, len(labels), unlabeled_includes_labeled)
    available = count_classes(labels[candidates], num_classes)
    kept = draw_per_class(labels[candidates], (available * share).round().long(), chance)
    return Fold(labeled, candidates[kept])


def normalised_deviation(labels: Tensor, num_classes: int) -> float:
    """How unevenly labels fall on classes: deviation of their frequencies over the mean, 1 / C (paper, Sec. 4.5)."""
    frequency = count_classes(labels, num_classes).double() / len(labels)
    return (frequency.std(correction=0) * num_classes).item()


def deviations_by_size(labels: Tensor, num_classes: int) -> dict[int, list[float]]:
    """For every number of labels that the data can fill, the normalised deviation of each of the paper's folds."""
    return {
        size: [
            normalised_deviation(labels[random(labels, size, fold, True).labeled], num_classes) for fold in PAPER_FOLDS
        ]
        for size in PAPER_SIZES
        if size <= len(labels)
    }


def count_classes(labels: Tensor, num_classes: int) -> Tensor:
    """(C,): how many images of every class; those of unknown class do not count."""
    return torch.bincount(labels[labels >= 0], minlength=num_classes)


def draw_per_class(labels: Tensor, counts: Tensor, chance: np.random.Generator) -> Tensor:
    """`counts[c]` images of every class c, without replacement, as sorted indices."""
    available = count_classes(labels, len(counts))
    short = (available < counts).nonzero().squeeze(1).tolist()
    if short:
        raise ConfigError(
            f"num_labels={int(counts.sum())} asks for {int(counts[short[0]])} images of class {short[0]}, which has "
            f"{int(available[short[0]])}; use a smaller num_labels, with equal classes at most "
            f"{int(available.min()) * len(counts)}."
        )
    chosen = []
    for c, count in enumerate(counts.tolist()):
        members = (labels == c).nonzero().squeeze(1)
        chosen.append(members[torch.from_numpy(chance.permutation(len(members))[:count])])
    return torch.cat(chosen).sort().values


def all_but(labeled: Tensor, num_images: int, includes_labeled: bool) -> Tensor:
    is_unlabeled = torch.ones(num_images, dtype=torch.bool)
    if not includes_labeled:
        is_unlabeled[labeled] = False
    return is_unlabeled.nonzero().squeeze(1)


def geometric(num_classes: int, ratio: float) -> Tensor:
    """Shares of classes, (C,), summing to 1, that fall geometrically; the first is `ratio` times the last."""
    share = ratio ** -torch.linspace(0, 1, num_classes, dtype=torch.float64)
    return share / share.sum()


def share_out(total: int, share: Tensor) -> Tensor:
    """Whole numbers that sum to `total` and follow `share` as closely as they can (largest remainders)."""
    exact = total * share
    counts = exact.floor().long()
    remainder = (exact - counts).argsort(descending=True, stable=True)
    counts[remainder[: total - int(counts.sum())]] += 1
    return counts
