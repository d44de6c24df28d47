"""From a set of images to a set of vectors: what stands between views and batches where there is a backbone."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from smoothpl.backbones.embeddings import Embeddings
from smoothpl.backbones.engine import Engine
from smoothpl.data.features.bank import Bank, Numbers
from smoothpl.data.features.contents import contents_of
from smoothpl.data.features.looks import Look
from smoothpl.data.features.vectors import LooksOfStep, Stored, Table, Vectors
from smoothpl.data.frames import Frame
from smoothpl.data.randomness import Stream
from smoothpl.data.source import Images, Source
from smoothpl.data.views import Views

PLAIN, WEAK, STRONG = "plain", "weak", "strong"


class Features(NamedTuple):
    """Which looks of images are taken, and through what."""

    engines: Callable[[], Sequence[Engine | Embeddings]]  # made when they are needed
    views: Views  # of images
    recipes: Mapping[str, str]  # of the views, in words that change with them
    num_views: int
    wants_strong: bool = False  # also where no strong view is the lesson's

    @property
    def of_step(self) -> LooksOfStep:
        return LooksOfStep(learned=self.views.learned)

    def of(self, pictures: Source) -> Source:
        banks = [Bank(each, self.recipes) if isinstance(each, Engine) else each for each in self.engines()]
        strong = self.looks(STRONG) if self.views.learned == STRONG or self.wants_strong else []
        return pictures._replace(
            train=self.vectors(banks, pictures.train, "train", self.looks(WEAK), strong),
            test=self.vectors(banks, pictures.test, "test", [self.plain], []),
        )

    def vectors(
        self, banks: Sequence[Bank | Embeddings], images: Images, name: str, weak: list[Look], strong: list[Look]
    ) -> Vectors:
        made = [bank for bank in banks if isinstance(bank, Bank)]
        contents = contents_of(images, as_frame(self.views.test_frame)) if made else np.empty((0, 2))
        for bank in made:
            bank.ensure(images, contents, [*weak, *strong])
        tables = [
            table(bank, contents, weak, strong) if isinstance(bank, Bank) else table_of(bank, names_of(images, name))
            for bank in banks
        ]
        return Vectors(tables, images.labels)

    @property
    def plain(self) -> Look:
        return Look(PLAIN, 0, None, as_frame(self.views.test_frame), None)

    def looks(self, kind: str) -> list[Look]:
        """The first weak look is the image itself: with shifted ones alone, a head would know test images worse."""
        frame, numbers = as_frame(self.views.frame), range(self.num_views)
        if kind == STRONG:
            return [Look(STRONG, number, self.views.strong, frame, Stream.STORED_STRONG) for number in numbers]
        return [self.plain, *(Look(WEAK, each, self.views.weak, frame, Stream.STORED_WEAK) for each in numbers[1:])]


def as_frame(frame: object) -> Frame | None:
    return frame if isinstance(frame, Frame) else None


def table(bank: Bank, contents: Numbers, weak: Sequence[Look], strong: Sequence[Look]) -> Table:
    def stored(look: Look) -> Stored:
        column = bank.column(look)
        return Stored(column.open(), torch.from_numpy(column.rows_of(contents)))

    return Table(*([stored(look) for look in looks] for looks in (weak, strong)))


def table_of(embeddings: Embeddings, names: Sequence[str]) -> Table:
    """Vectors that were made elsewhere: there is one look at every image, which is weak and strong."""
    looks = [Stored(embeddings.of(names), torch.arange(len(names)))]
    return Table(looks, looks)


def names_of(images: Images, name: str) -> Sequence[str]:
    """What the vectors of a list belong to: files of a folder; elsewhere train/0, train/1, ..., test/0, ..."""
    return getattr(images, "files", None) or [f"{name}/{number}" for number in range(len(images))]
