"""Between a source and its fold: training images that test instead of the test images, where settings are chosen."""

from typing import NamedTuple

import torch
from torch import Tensor

from smoothpl.data.folds import count_classes, draw_per_class, share_out
from smoothpl.data.parts import Some
from smoothpl.data.randomness import Stream, generator
from smoothpl.data.source import Images, Source
from smoothpl.errors import ConfigError

KEY = 0
"""The same images in every fold and for every seed: what settings were chosen on can be named."""


class Choosing(NamedTuple):
    """`number` images, which keep their labels and are used for nothing else; classes keep their shares."""

    number: int

    def of(self, source: Source) -> Source:
        """The source without its test images, which nobody looks at who has settings to choose."""
        held = self.held(source.train.labels, len(source.class_names))
        rest = torch.ones(len(source.train), dtype=torch.bool)
        rest[held] = False
        return source._replace(
            train=Some(source.train, rest.nonzero().squeeze(1)),
            test=Some(source.train, held),
            tested_on="training images held out to choose settings on",
        )

    def held(self, labels: Tensor, num_classes: int) -> Tensor:
        available = count_classes(labels, num_classes)
        if self.number >= int(available.sum()):
            raise ConfigError(
                f"choose_on={self.number}, but only {int(available.sum())} training images have labels, and some "
                "must be left to train on; use a smaller number, for example a tenth of them."
            )
        wanted = share_out(self.number, available.double() / available.sum())
        return draw_per_class(labels, wanted, generator(KEY, Stream.CHOOSING))


def is_of_training(images: Images, train: Images) -> bool:
    """Whether images that test were taken from those for training."""
    return innermost(images) is innermost(train)


def innermost(images: Images) -> Images:
    while isinstance(images, Some):
        images = images.images
    return images
