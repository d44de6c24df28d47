"""From a set of images to a set of vectors: what stands between views and batches where there is a backbone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch

from smoothpl.backbones.embeddings import Embeddings
from smoothpl.backbones.engine import Engine
from smoothpl.data.choosing import is_of_training
from smoothpl.data.features.bank import Bank, Numbers
from smoothpl.data.features.contents import contents_of
from smoothpl.data.features.looks import Look
from smoothpl.data.features.vectors import LooksOfStep, Stored, Table, Vectors
from smoothpl.data.frames import Frame
from smoothpl.data.parts import Some
from smoothpl.data.randomness import Stream
from smoothpl.data.source import Images, Source
from smoothpl.data.views import Views
from smoothpl.data.views.turns import Turned
from smoothpl.data.wanted import FURTHER_VIEWS, Recipe

PLAIN, TURNED = "plain", "turned"
WEAK: Recipe = "weak"
STRONG: Recipe = "strong"
MEDIUM: Recipe = "medium"
SIMCLR: Recipe = "simclr"
STREAMS: Mapping[Recipe, Stream] = {
    WEAK: Stream.STORED_WEAK,
    STRONG: Stream.STORED_STRONG,
    MEDIUM: Stream.STORED_MEDIUM,
    SIMCLR: Stream.STORED_SIMCLR,
}
QUARTERS = (1, 2, 3)


class Features(NamedTuple):
    """Which looks of images are taken, and through what."""

    engines: Callable[[], Sequence[Engine | Embeddings]]  # made when they are needed
    views: Views  # of images
    recipes: Mapping[str, str]  # of the views, in words that change with them
    num_views: int
    wanted: Sequence[str] = ()  # further views and chance of the method

    @property
    def of_step(self) -> LooksOfStep:
        return LooksOfStep(learned=self.views.learned)

    def of(self, pictures: Source) -> Source:
        banks = [Bank(each, self.recipes) if isinstance(each, Engine) else each for each in self.engines()]
        tested = "train" if is_of_training(pictures.test, pictures.train) else "test"
        return pictures._replace(
            train=self.vectors(banks, pictures.train, "train", self.every_look()),
            test=self.vectors(banks, pictures.test, tested, {WEAK: [self.plain]}),
        )

    def every_look(self) -> dict[str, list[Look]]:
        """Those that a step may ask for, by their kind."""
        recipes = {FURTHER_VIEWS[name].recipe for name in self.wanted if name in FURTHER_VIEWS}
        if self.views.learned == STRONG or "turn" in self.wanted:
            recipes.add(STRONG)
        found: dict[str, list[Look]] = {kind: self.looks(kind) for kind in STREAMS if kind == WEAK or kind in recipes}
        return found | ({TURNED: self.turned_looks()} if "turn" in self.wanted else {})

    def vectors(
        self, banks: Sequence[Bank | Embeddings], images: Images, name: str, looks: Mapping[str, Sequence[Look]]
    ) -> Vectors:
        made = [bank for bank in banks if isinstance(bank, Bank)]
        contents = contents_of(images, as_frame(self.views.test_frame)) if made else np.empty((0, 2))
        for bank in made:
            bank.ensure(images, contents, list(chain(*looks.values())))
        tables = [
            table(bank, contents, looks) if isinstance(bank, Bank) else table_of(bank, names_of(images, name), looks)
            for bank in banks
        ]
        return Vectors(tables, images.labels)

    @property
    def plain(self) -> Look:
        return Look(PLAIN, 0, None, as_frame(self.views.test_frame), None)

    def looks(self, kind: Recipe) -> list[Look]:
        """The first weak look is the image itself: with shifted ones alone, a head would know test images worse."""
        frame, view = as_frame(self.views.frame), self.views.recipe(kind)
        looks = [Look(kind, number, view, frame, STREAMS[kind]) for number in range(self.num_views)]
        return [self.plain, *looks[1:]] if kind == WEAK else looks

    def turned_looks(self) -> list[Look]:
        """The strong looks again, by the same chance."""
        turned = [(quarters, Turned(self.views.strong, quarters)) for quarters in QUARTERS]
        return [
            Look(f"{TURNED}{quarters}", look.number, view, look.frame, look.stream)
            for look in self.looks(STRONG)
            for quarters, view in turned
        ]


def as_frame(frame: object) -> Frame | None:
    return frame if isinstance(frame, Frame) else None


def table(bank: Bank, contents: Numbers, looks: Mapping[str, Sequence[Look]]) -> Table:
    def stored(look: Look) -> Stored:
        column = bank.column(look)
        return Stored(column.open(), torch.from_numpy(column.rows_of(contents)))

    return {kind: [stored(look) for look in those] for kind, those in looks.items()}


def table_of(embeddings: Embeddings, names: Sequence[str], kinds: Iterable[str]) -> Table:
    """Vectors that were made elsewhere: there is one look at every image, which is weak, strong and any other."""
    looks = [Stored(embeddings.of(names), torch.arange(len(names)))]
    return dict.fromkeys(kinds, looks)


def names_of(images: Images, name: str) -> Sequence[str]:
    """What the vectors of a list belong to: files of a folder; elsewhere train/0, train/1, ..., test/0, ..."""
    if isinstance(images, Some):
        names = names_of(images.images, name)
        return [names[number] for number in images.index.tolist()]
    return getattr(images, "files", None) or [f"{name}/{number}" for number in range(len(images))]
