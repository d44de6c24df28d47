"""Parts of the labeled images: one of them is held out, and tests instead of the test images."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from smoothpl.data.folds import Fold
from smoothpl.data.source import Images, Reading, Source
from smoothpl.errors import ConfigError

MOST_PARTS = 5


class Part(NamedTuple):
    """Number `fold` of `folds` parts."""

    folds: int
    fold: int

    def hold_out(self, fold: Fold, source: Source) -> tuple[Fold, Source]:
        """Held-out images neither train nor are they among the unlabeled images. No class loses all of its labels."""
        is_held = parts_of(source.train.labels[fold.labeled], self.folds) == self.fold
        held, left = fold.labeled[is_held], fold.labeled[~is_held]
        if not len(held):
            raise ConfigError(
                f"data.held_out: part {self.fold} of {self.folds} holds out no labeled image; use fewer parts."
            )
        return Fold(left, fold.unlabeled[~torch.isin(fold.unlabeled, held)]), source._replace(
            test=Some(source.train, held),
            tested_on=f"labeled images held out, part {self.fold} of {self.folds}",
        )


def parts_of(labels: Tensor, folds: int) -> Tensor:
    """labels (L,) -> (L,): the part that each labeled image belongs to, -1 for the only one of its class.

    Class by class in turn, beginning with another part for every class, so that parts are of one size."""
    part = torch.full_like(labels, -1)
    first = 0
    for number in sorted({*labels.tolist()}):
        members = (labels == number).nonzero().squeeze(1)
        if len(members) > 1:
            part[members] = (first + torch.arange(len(members))) % folds
            first += len(members)
    return part


def num_parts(labeled_per_class: Sequence[int]) -> int:
    """As many as can all test something, up to MOST_PARTS; 0 if no class has two labels."""
    largest = max(labeled_per_class, default=0)
    return 0 if largest < 2 else min(MOST_PARTS, sum(number for number in labeled_per_class if number > 1))


class Some:
    """Some images of a set, as a set."""

    def __init__(self, images: Images, index: Tensor) -> None:
        self.images = images
        self.index = index
        self.labels = images.labels[index]

    @property
    def same_size(self) -> bool:
        return self.images.same_size

    @property
    def contents(self) -> Callable[[], list[bytes]]:
        """Where the images know their contents; see `contents_of`."""
        known: Callable[[], list[bytes]] = self.images.contents  # type: ignore[attr-defined]
        return lambda: [every[number] for every in [known()] for number in self.index.tolist()]

    def __len__(self) -> int:
        return len(self.index)

    def read(self, index: Tensor, frame: Reading | None, draws: Sequence[Tensor]) -> list[Tensor]:
        return self.images.read(self.index[index], frame, draws)
