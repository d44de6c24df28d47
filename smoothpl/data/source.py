"""Images, the first arrow of the data flow: what every data set is turned into."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from torch import Tensor

UNKNOWN = -1
"""The label of an image that nobody has labeled, as most of STL-10's."""
HELD_OUT = -2
"""The label of an image among the training images that must not train: it is held out, or tests."""
STRANGER = -3
"""The label of an image of a class that has no labels (unlabeled=open_set)."""


Open = TypeVar("Open", bound=Callable[..., "Source"])


def images_of(side: int) -> Callable[[Open], Open]:
    """Lets a source say how many pixels the side of its images has, for those who ask before it is opened."""

    def with_size(source: Open) -> Open:
        source.image_size = side  # type: ignore[attr-defined]
        return source

    return with_size


class Reading(Protocol):
    """What chance decides when an image is read: which part of a picture, or which of its stored views."""

    @property
    def num_draws(self) -> int: ...


class Images(Protocol):
    """Images with their labels, (N,) int64, in memory or on disk."""

    @property
    def same_size(self) -> bool:
        """Whether they are read as they are; else a frame cuts out what a view shows."""

    @property
    def labels(self) -> Tensor: ...

    def __len__(self) -> int: ...

    def read(self, index: Tensor, frame: Reading | None, draws: Sequence[Tensor]) -> list[Tensor]:
        """index (B,) -> (B, channels, height, width) uint8, once for all draws (B, frame.num_draws), or for each."""


class ImageSet(NamedTuple):
    """Images of one size, in memory: images (N, channels, height, width) uint8, labels (N,) int64."""

    images: Tensor
    labels: Tensor

    @property
    def same_size(self) -> bool:
        return True

    def __len__(self) -> int:  # number of images, not of fields
        return len(self.labels)

    def read(self, index: Tensor, frame: Reading | None, draws: Sequence[Tensor]) -> list[Tensor]:
        """Whole images, once; module.py has seen that no frame is asked for."""
        return [self.images[index]]


class Source(NamedTuple):
    """A data set: what may train, what may only test, and what the classes are called."""

    train: Images
    test: Images
    class_names: tuple[str, ...]
    num_left_out: int = 0  # files that are not images
    tested_on: str = ""  # where that is not a test set of its own
