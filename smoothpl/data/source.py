"""Images, the first arrow of the data flow: what every data set is turned into."""

from typing import NamedTuple

from torch import Tensor


class ImageSet(NamedTuple):
    """images (N, channels, height, width) uint8, labels (N,) int64."""

    images: Tensor
    labels: Tensor

    def __len__(self) -> int:  # number of images, not of fields
        return len(self.labels)


class Source(NamedTuple):
    """A data set: what may train, what may only test, and what the classes are called."""

    train: ImageSet
    test: ImageSet
    class_names: tuple[str, ...]
