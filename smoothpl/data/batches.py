"""Batches: one item is one whole training step, and depends on nothing but the seed and the step's number."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from numpy.random import Generator
from torch import Tensor
from torch.utils.data import Dataset, Sampler

from smoothpl.data.batch import RawStep, RawView
from smoothpl.data.folds import Fold
from smoothpl.data.picked import Lessons
from smoothpl.data.randomness import Stream, generator
from smoothpl.data.source import Images, ImageSet, Reading
from smoothpl.data.views import Views
from smoothpl.data.wanted import FURTHER_CHANCE, FURTHER_VIEWS, FurtherView, Sizes, check_wanted


class Steps(Dataset[RawStep]):
    """The steps of a run, each drawn when asked for: memory does not grow with their number.

    Images are drawn with replacement, as in the paper's codebase, but from two independent streams. Every rank draws
    the whole step and reads its own share of it, so that their number changes nothing. Where gradients are accumulated
    a step comes in `num_parts`, one after the other: item i is part i % num_parts of step i // num_parts.
    """

    def __init__(
        self,
        train: Images,
        fold: Fold,
        views: Views,
        batch_size: int,
        unlabeled_ratio: int,
        max_steps: int,
        seed: int,
        rank: int = 0,
        num_ranks: int = 1,
        num_parts: int = 1,
        wanted: Sequence[str] = (),
        lessons: Lessons | None = None,
    ) -> None:
        check_wanted(wanted)
        self.wanted = wanted
        self.train = train
        self.fold = fold
        self.given_lessons = lessons
        self.views = views
        self.num_labeled = batch_size
        self.num_unlabeled = batch_size * unlabeled_ratio
        self.max_steps = max_steps
        self.seed = seed
        self.rank = rank
        self.num_ranks = num_ranks
        self.num_parts = num_parts

    @cached_property
    def lessons(self) -> Lessons:
        """What the labeled images teach: their labels, unless a generation before has picked others."""
        return self.given_lessons or Lessons(self.train.labels[self.fold.labeled], None)

    def __len__(self) -> int:
        return self.max_steps * self.num_parts

    def __getitem__(self, item: int) -> RawStep:
        weak, strong, frame = self.views.weak, self.views.strong, self.views.frame
        num_frame_draws = frame.num_draws if frame else 0

        draw = self.draws(Stream.LABELED, item, self.num_labeled)
        labeled_image = draw.below(len(self.fold.labeled))
        labeled = self.fold.labeled[labeled_image]
        labeled_draws = draw.uniform(weak.num_draws)
        (labeled_images,) = self.train.read(labeled, frame, [draw.uniform(num_frame_draws)])

        draw = self.draws(Stream.UNLABELED, item, self.num_unlabeled)
        image = draw.below(len(self.fold.unlabeled))
        weak_draws, strong_draws = draw.uniform(weak.num_draws), draw.uniform(strong.num_draws)
        frame_draws = [draw.uniform(num_frame_draws) for _ in (weak, strong)]
        both = self.views.learned == "strong"
        index = self.fold.unlabeled[image]
        images = self.train.read(index, frame, frame_draws[: 1 + both])
        chance = self.further_chance(item, images[0].shape[1:]) if self.wanted else {}
        return RawStep(
            labeled=labeled_images,
            label=self.lessons.label[labeled_image],
            labeled_plan=weak.plan(labeled_draws, labeled_images.shape),
            unlabeled=images[0],
            unlabeled_strong=images[1] if len(images) == 2 else None,
            image=image,
            weak_plan=weak.plan(weak_draws, images[0].shape),
            strong_plan=strong.plan(strong_draws, images[0].shape) if both else None,
            labeled_image=labeled_image,
            label_weight=None if self.lessons.weight is None else self.lessons.weight[labeled_image],
            views={
                name: self.further_view(view, item, labeled if view.of == "labeled" else index)
                for name, view in FURTHER_VIEWS.items()
                if name in self.wanted
            },
            chance=chance,
            turned=self.views.read_turned(self.train, index, frame_draws[1], chance["turn"])
            if "turn" in chance
            else None,
        )

    def further_view(self, wanted: FurtherView, item: int, index: Tensor) -> RawView:
        """index: of the images of the step, (U,) or (B,), for views that are not of others."""
        view, reading = self.views.recipe(wanted.recipe), self.views.reading(wanted.recipe)
        draw = self.draws(wanted.stream, item, self.num_unlabeled if wanted.of == "unlabeled" else self.num_labeled)
        if wanted.of == "others":
            index = self.fold.unlabeled[draw.below(len(self.fold.unlabeled))]
        (images,) = self.train.read(index, reading, [draw.uniform(reading.num_draws if reading else 0)])
        return RawView(images, view.plan(draw.uniform(view.num_draws), images.shape))

    def further_chance(self, item: int, dims: Sequence[int]) -> dict[str, Tensor]:
        """dims: of one input of the network."""
        found = {}
        for name in (each for each in FURTHER_CHANCE if each in self.wanted):
            stream, draw, by_image = FURTHER_CHANCE[name]
            chance, _, share = self.draws(stream, item, self.num_unlabeled)
            drawn = draw(chance, Sizes(self.num_labeled, self.num_unlabeled, tuple(dims)))
            found[name] = drawn[share] if by_image else drawn
        return found

    def draws(self, stream: Stream, item: int, size: int) -> "Draws":
        step, part = divmod(item, self.num_parts)
        share_of, shares = self.rank * self.num_parts + part, self.num_ranks * self.num_parts
        share = slice(size * share_of // shares, size * (share_of + 1) // shares)
        return Draws(generator(self.seed, stream, step), size, share)


class Draws(NamedTuple):
    """Numbers for a whole step, of which one rank takes its share."""

    chance: Generator
    size: int
    share: slice

    def below(self, limit: int) -> Tensor:
        return torch.from_numpy(self.chance.integers(limit, size=self.size)[self.share])

    def uniform(self, count: int) -> Tensor:
        """(share, count) float32 in [0, 1)."""
        return torch.from_numpy(self.chance.random((self.size, count), dtype="float32")[self.share])


class FromStep(Sampler[int]):
    """Item after item, beginning with the one that training has reached: all that a resumed run needs."""

    def __init__(self, num_items: int, reached: Callable[[], int]) -> None:
        self.num_items = num_items
        self.reached = reached

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.reached(), self.num_items))

    def __len__(self) -> int:  # of the whole run: Lightning counts the steps of a resumed one from its beginning
        return self.num_items


class Slices(Dataset[ImageSet]):
    """A set cut into consecutive batches, each taken whole: every image once, in order, by one of the ranks."""

    def __init__(self, images: Images, frame: Reading | None, size: int, rank: int = 0, num_ranks: int = 1) -> None:
        self.images = images
        self.frame = frame
        self.size = size
        self.starts = range(rank * size, len(images), num_ranks * size)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, number: int) -> ImageSet:
        start = self.starts[number]
        index = torch.arange(start, min(start + self.size, len(self.images)))
        (images,) = self.images.read(index, self.frame, [torch.empty(len(index), 0)])
        return ImageSet(images, self.images.labels[index])
