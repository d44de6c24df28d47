"""What a method wants of a step besides the weak and the strong view: further views, and further chance.

Each has a stream of random numbers of its own, so that it changes nothing for methods that do not want it: their
batches, and the runs that they are compared with, stay the same to the bit.
"""

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from smoothpl.data.randomness import Stream
from smoothpl.errors import ConfigError

Recipe = Literal["weak", "strong", "medium", "simclr"]


class FurtherView(NamedTuple):
    """One more view of the images of a step, made by a recipe."""

    recipe: Recipe
    stream: Stream
    of: Literal["labeled", "unlabeled", "others"] = "unlabeled"  # others: unlabeled ones, as many as labeled ones
    turns: bool = False  # all four quarter turns of each


FURTHER_VIEWS = {
    "weak2": FurtherView("weak", Stream.WEAK2),
    "strong2": FurtherView("strong", Stream.STRONG2),
    "medium": FurtherView("medium", Stream.MEDIUM),
    "simclr": FurtherView("simclr", Stream.SIMCLR),
    "simclr2": FurtherView("simclr", Stream.SIMCLR2),
    "quarters": FurtherView("weak", Stream.OTHERS, of="others", turns=True),
    "labeled_strong": FurtherView("strong", Stream.LABELED_STRONG, of="labeled"),
}


class Sizes(NamedTuple):
    """Of a whole step, of all ranks."""

    num_labeled: int
    num_unlabeled: int
    dims: tuple[int, ...]  # of one input of the network


class FurtherChance(NamedTuple):
    """Numbers that a part of a method would otherwise draw while it trains."""

    stream: Stream
    draw: Callable[[np.random.Generator, Sizes], Tensor]
    by_image: bool  # of the unlabeled images: then a rank takes its share


FURTHER_CHANCE = {
    "turn": FurtherChance(Stream.TURN, lambda chance, sizes: integers(chance, 4, sizes.num_unlabeled), by_image=True),
    "noise": FurtherChance(
        Stream.NOISE,
        lambda chance, sizes: torch.from_numpy(
            chance.standard_normal((sizes.num_unlabeled, *sizes.dims), dtype=np.float32)
        ),
        by_image=True,
    ),
    # A weight and a place for every labeled image and for each of two views of every unlabeled one.
    "mix": FurtherChance(
        Stream.MIX,
        lambda chance, sizes: weights_and_places(chance, sizes.num_labeled + 2 * sizes.num_unlabeled),
        by_image=False,
    ),
    # A number for every labeled image and every unlabeled one: whether it is left out.
    "balance": FurtherChance(
        Stream.BALANCE,
        lambda chance, sizes: torch.from_numpy(
            chance.random(sizes.num_labeled + sizes.num_unlabeled, dtype=np.float32)
        ),
        by_image=False,
    ),
    # A seed for every image, for noise of its own inside of the network.
    "dropout": FurtherChance(
        Stream.DROPOUT, lambda chance, sizes: integers(chance, 2**31, sizes.num_unlabeled), by_image=True
    ),
    # A seed, for noise inside of the network: it is the same on every rank.
    "heads": FurtherChance(Stream.HEADS, lambda chance, _: integers(chance, 2**31, 1), by_image=False),
}


def integers(chance: np.random.Generator, limit: int, size: int) -> Tensor:
    return torch.from_numpy(chance.integers(limit, size=size))


def weights_and_places(chance: np.random.Generator, size: int) -> Tensor:
    """(2, size) float32: uniform numbers, and a permutation, in which no two are level as rounded numbers may be."""
    weight, order = chance.random((2, size))
    return torch.from_numpy(np.stack([weight, order.argsort().argsort()]).astype(np.float32))


def check_wanted(names: Iterable[str]) -> None:
    known = [*FURTHER_VIEWS, *FURTHER_CHANCE]
    for name in names:
        if name not in known:
            raise ConfigError(f"views_wanted={name} is not known; a method may want {', '.join(known)}.")
