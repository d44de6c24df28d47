"""Fold: which images carry labels. A pure function of the labels, how many are wanted, and the fold's number."""

from typing import NamedTuple

import torch
from torch import Tensor

from smoothpl.data.randomness import Stream, generator
from smoothpl.errors import ConfigError


class Fold(NamedTuple):
    """Indices into the training images: labeled (num_labels,), unlabeled (N,); both sorted."""

    labeled: Tensor
    unlabeled: Tensor


def balanced(labels: Tensor, num_labels: int, num_classes: int, fold: int, unlabeled_includes_labeled: bool) -> Fold:
    """The same number of labels for every class, drawn without replacement (paper, Sec. 4.1).

    `unlabeled_includes_labeled`: the paper's notation keeps L and U apart; the code it ran on does not, and learns
    pseudo-labels for the labeled images too.
    """
    per_class = num_labels // num_classes  # checks.check_split has seen that this is exact
    chance = generator(fold, Stream.FOLD)
    counts = torch.bincount(labels, minlength=num_classes)
    smallest = int(counts.argmin())
    if counts[smallest] < per_class:
        raise ConfigError(
            f"num_labels={num_labels} asks for {per_class} labels per class, and class {smallest} has "
            f"{counts[smallest]} images; use at most num_labels={int(counts[smallest]) * num_classes}."
        )
    chosen = []
    for c in range(num_classes):
        members = (labels == c).nonzero().squeeze(1)
        chosen.append(members[torch.from_numpy(chance.permutation(len(members))[:per_class])])
    labeled = torch.cat(chosen).sort().values
    is_unlabeled = torch.ones(len(labels), dtype=torch.bool)
    if not unlabeled_includes_labeled:
        is_unlabeled[labeled] = False
    return Fold(labeled, is_unlabeled.nonzero().squeeze(1))
