"""Open set: between a source and its fold. Some classes lose their labels; their images are strangers among others."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from smoothpl.config.checks.open_set import num_known
from smoothpl.data.folds import Fold
from smoothpl.data.parts import Some
from smoothpl.data.randomness import Stream, generator
from smoothpl.data.source import STRANGER, Images, Source
from smoothpl.errors import ConfigError, require

CLASSES, IMAGES = 0, 1
"""What the two steps of the stream decide."""


@dataclass(frozen=True)
class OpenSet:
    """`known`: how many classes have labels, or which; `strangers`: the share of unlabeled images of the others.

    Which images are labeled is left to the split, among the known classes. As many unlabeled images are kept as the
    share allows: strangers are left out, or where there are too few of them, images of known classes.
    """

    known: int | Sequence[int]
    strangers: float
    fold: int

    def __post_init__(self) -> None:
        require(0 <= self.strangers < 1, f"unlabeled.strangers={self.strangers} must lie in [0, 1): a share of images.")
        num_known(self.known)

    @property
    def chosen(self) -> list[int]:
        """Their numbers, if they are given; none if chance chooses them."""
        return [] if isinstance(self.known, int) else sorted(self.known)

    def of(self, source: Source) -> Source:
        """The source as one sees it who knows some classes: they get the numbers 0, 1, ..., others are strangers."""
        number = len(source.class_names)
        self.check(number, source.train.labels)
        chosen = self.classes(number)
        new_number = torch.full((number,), STRANGER)
        new_number[chosen] = torch.arange(len(chosen))
        tested = torch.isin(source.test.labels, chosen).nonzero().squeeze(1)
        return source._replace(
            train=with_labels(source.train, torch.arange(len(source.train)), new_number),
            test=with_labels(source.test, tested, new_number),
            class_names=tuple(source.class_names[c] for c in chosen.tolist()),
        )

    def check(self, number: int, labels: Tensor) -> None:
        """number: of classes, of known ones and others."""
        if (labels < 0).any():
            raise ConfigError(
                "unlabeled=open_set must know the class of every training image, and here some are unknown; use "
                "unlabeled=closed_set or other data."
            )
        most = number - (self.strangers > 0)  # without strangers there need be no other class
        require(
            num_known(self.known) <= most,
            f"unlabeled.known={self.known}: there are {number} classes, and strangers need one of their own; at most "
            f"{most} can be known, or use unlabeled=closed_set.",
        )
        require(
            not self.chosen or self.chosen[-1] < number,
            f"unlabeled.known={self.known}: the {number} classes have the numbers 0 to {number - 1}.",
        )

    def classes(self, number: int) -> Tensor:
        """The known ones, in their order."""
        order = generator(self.fold, Stream.STRANGERS, CLASSES).permutation(number)
        return torch.tensor(self.chosen or sorted(order[: num_known(self.known)].tolist()))

    def join(self, fold: Fold, labels: Tensor) -> Fold:
        """Whatever a split has made of known classes, with strangers. With more of them the others stay the same."""
        known = fold.unlabeled[labels[fold.unlabeled] != STRANGER]
        strangers = (labels == STRANGER).nonzero().squeeze(1)
        chance = generator(self.fold, Stream.STRANGERS, IMAGES)
        orders = [torch.from_numpy(chance.permutation(len(images))) for images in (known, strangers)]
        per_known = self.strangers / (1 - self.strangers)
        most_strangers = round(per_known * len(known))
        most_known = round(len(strangers) / per_known) if per_known else len(known)
        kept = [known[orders[0][:most_known]], strangers[orders[1][:most_strangers]]]
        return Fold(fold.labeled, torch.cat(kept).sort().values)


def with_labels(images: Images, index: Tensor, new_number: Tensor) -> Some:
    """Some images, with other numbers for their classes."""
    some = Some(images, index)
    some.labels = new_number[some.labels]
    return some
