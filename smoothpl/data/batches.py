"""Batches: one item is one whole training step, and depends on nothing but the seed and the step's number."""

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.data import Dataset

from smoothpl.data.folds import Fold
from smoothpl.data.randomness import Stream, generator
from smoothpl.data.source import ImageSet


class RawStep(NamedTuple):
    """The images of a step as they are stored, and the uniform numbers that will make views of them."""

    labeled: Tensor  # (B, channels, height, width) uint8
    label: Tensor  # (B,)
    labeled_draws: Tensor
    unlabeled: Tensor  # (U, channels, height, width) uint8
    image: Tensor  # (U,) which of the N unlabeled images
    weak_draws: Tensor
    strong_draws: Tensor


class Batch(NamedTuple):
    """What the network learns from in one step. Without a strong view it learns from the weak one (Pseudo-Labeling)."""

    labeled: Tensor  # (B, channels, height, width)
    label: Tensor  # (B,)
    weak: Tensor  # (U, channels, height, width)
    strong: Tensor | None
    image: Tensor  # (U,)


class Steps(Dataset[RawStep]):
    """The steps of a run, each drawn when asked for: memory does not grow with their number.

    Images are drawn with replacement, as in the paper's codebase, but from two independent streams.
    """

    def __init__(
        self,
        train: ImageSet,
        fold: Fold,
        batch_size: int,
        unlabeled_ratio: int,
        max_steps: int,
        seed: int,
        num_weak_draws: int,
        num_strong_draws: int,
    ) -> None:
        self.train = train
        self.fold = fold
        self.num_labeled = batch_size
        self.num_unlabeled = batch_size * unlabeled_ratio
        self.max_steps = max_steps
        self.seed = seed
        self.num_weak_draws = num_weak_draws
        self.num_strong_draws = num_strong_draws

    def __len__(self) -> int:
        return self.max_steps

    def __getitem__(self, step: int) -> RawStep:
        chance = generator(self.seed, Stream.LABELED, step)
        labeled = self.fold.labeled[torch.from_numpy(chance.integers(len(self.fold.labeled), size=self.num_labeled))]
        labeled_draws = chance.random((self.num_labeled, self.num_weak_draws), dtype="float32")

        chance = generator(self.seed, Stream.UNLABELED, step)
        image = torch.from_numpy(chance.integers(len(self.fold.unlabeled), size=self.num_unlabeled))
        weak_draws = chance.random((self.num_unlabeled, self.num_weak_draws), dtype="float32")
        strong_draws = chance.random((self.num_unlabeled, self.num_strong_draws), dtype="float32")
        return RawStep(
            labeled=self.train.images[labeled],
            label=self.train.labels[labeled],
            labeled_draws=torch.from_numpy(labeled_draws),
            unlabeled=self.train.images[self.fold.unlabeled[image]],
            image=image,
            weak_draws=torch.from_numpy(weak_draws),
            strong_draws=torch.from_numpy(strong_draws),
        )


class Slices(Dataset[ImageSet]):
    """A set cut into consecutive batches, each taken whole: every image once, in order."""

    def __init__(self, images: ImageSet, size: int) -> None:
        self.images = images
        self.size = size

    def __len__(self) -> int:
        return math.ceil(len(self.images) / self.size)

    def __getitem__(self, number: int) -> ImageSet:
        if number >= len(self):
            raise IndexError(number)
        part = slice(number * self.size, (number + 1) * self.size)
        return ImageSet(self.images.images[part], self.images.labels[part])
