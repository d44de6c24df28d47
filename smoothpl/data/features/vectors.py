"""Vectors where others have images: what training reads from a bank, step by step."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from smoothpl.data.source import Images, Reading
from smoothpl.data.views import View, Views
from smoothpl.data.wanted import Recipe


class Stored(NamedTuple):
    """A look at every image of a set: vectors (rows, dim) float16 on disk, and the row of each image."""

    vectors: Tensor
    row: Tensor

    def take(self, index: Tensor) -> Tensor:
        return self.vectors.index_select(0, self.row[index])  # whole rows: several times as fast as vectors[rows]


Table = Mapping[str, Sequence[Stored]]
"""What one backbone has seen of a set of images, by the kind of look; the first weak look is the image as it is tested.

Turned looks stand in the order of the strong ones they are made of, each by one, two and three quarters of a circle.
"""


class Vectors:
    """A set of images by their vectors, of one backbone or of several side by side."""

    same_size = False

    def __init__(self, tables: Sequence[Table], labels: Tensor) -> None:
        self.tables = tables
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: Tensor, frame: Reading | None, draws: Sequence[Tensor]) -> list[Tensor]:
        """Weak looks by the first draws, strong ones by the second; the image itself where nothing is drawn."""
        kinds = (frame.kind,) if isinstance(frame, AnyLook) and frame.kind else ("weak", "strong")
        return [
            side_by_side([self.look_up(table, kind, index, numbers) for table in self.tables])
            for kind, numbers in zip(kinds, draws, strict=False)
        ]

    def weak_looks(self, index: Tensor) -> Iterator[Tensor]:
        """(B, D), once for every weak look."""
        for looks in zip(*(table["weak"] for table in self.tables), strict=True):
            yield side_by_side([stored.take(index) for stored in looks])

    def look_up(self, table: Table, kind: str, index: Tensor, draws: Tensor) -> Tensor:
        if not draws.shape[1]:
            return table["weak"][0].take(index)
        return pick(table[kind], index, (draws[:, 0] * len(table[kind])).long())

    def turned(self, index: Tensor, draws: Tensor, turn: Tensor) -> Tensor:
        """The strong looks that the same draws give, turned: index (B,), draws (B, 1), turn (B,) 0 to 3 -> (B, D)."""
        found = []
        for table in self.tables:
            strong, turned = table["strong"], table["turned"]
            looks = [look for at, each in enumerate(strong) for look in (each, *turned[3 * at : 3 * at + 3])]
            found.append(pick(looks, index, 4 * (draws[:, 0] * len(strong)).long() + turn))
        return side_by_side(found)


def pick(looks: Sequence[Stored], index: Tensor, number: Tensor) -> Tensor:
    """index (B,) of images, number (B,) of the look at each -> (B, D)."""
    found = looks[0].vectors.new_empty(len(index), looks[0].vectors.shape[1])
    for which, stored in enumerate(looks):
        chosen = (number == which).nonzero().squeeze(1)
        found.index_copy_(0, chosen, stored.take(index[chosen]))
    return found


def side_by_side(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(list(parts), dim=1)


@dataclass(frozen=True)
class AnyLook:
    """One of the stored looks, drawn when an image is read; of one kind only, if it is named."""

    num_draws: int = 1
    kind: str = ""


@dataclass(frozen=True)
class AsItIs(View):
    """Vectors have been looked at already."""

    num_draws = 0

    def __call__(self, images: Tensor, plan: Any) -> Tensor:
        return images


@dataclass(frozen=True)
class LooksOfStep(Views):
    """Stands where the views of images would: the head itself brings vectors to 32 bits and to its scale."""

    weak: View = field(default_factory=AsItIs)
    strong: View = field(default_factory=AsItIs)
    mean: Sequence[float] = (0.0,)
    std: Sequence[float] = (1.0,)
    frame: Reading | None = field(default_factory=AnyLook)

    def recipe(self, name: Recipe) -> View:
        return self.weak

    def reading(self, recipe: Recipe) -> Reading:
        return AnyLook(kind=recipe)

    def read_turned(self, images: Images, index: Tensor, draws: Tensor, turn: Tensor) -> Tensor:
        assert isinstance(images, Vectors)
        return images.turned(index, draws, turn)

    def normalise(self, pixels: Tensor) -> Tensor:
        return pixels  # still of 16 bits: half as much to put together for a step
