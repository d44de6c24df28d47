"""Images of many sizes, on disk: decoded when they are read, in whatever process reads them."""

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import default_collate

from smoothpl.data.decode import decode
from smoothpl.data.frames import Frame
from smoothpl.data.source import Reading
from smoothpl.errors import ConfigError
from smoothpl.io.digests import digests_of
from smoothpl.io.processes import in_processes


class Pictures:
    """Files and their labels."""

    same_size = False

    def __init__(self, paths: Sequence[Path], labels: Tensor) -> None:
        # One array, not a list of strings: workers share it, and reading it does not write to it (reference counts).
        self.paths = np.array([os.fsencode(path) for path in paths])
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    def contents(self) -> list[bytes]:
        """Of the files: what a bank of features knows them by."""
        return [digest.encode() for digest in chain.from_iterable(in_processes(digests_of, self.files()))]

    def files(self) -> list[Path]:
        return [Path(os.fsdecode(path)) for path in self.paths]

    def read(self, index: Tensor, frame: Reading | None, draws: Sequence[Tensor]) -> list[Tensor]:
        """Decodes every picture once, and frames it once for each of the draws."""
        assert isinstance(frame, Frame)  # module.py has seen to it
        if not len(index):
            return [torch.empty(0, 3, frame.size, frame.size, dtype=torch.uint8) for _ in draws]
        shown: list[list[Tensor]] = [[] for _ in draws]
        for row, number in enumerate(index.tolist()):
            path = Path(os.fsdecode(self.paths[number]))
            try:
                picture = decode(path)
            except (ValueError, OSError) as error:
                raise ConfigError(
                    f"{path} is not an image that can be read ({error}); repair or remove it, or skip all such "
                    "files with data.on_bad_image=skip."
                ) from error
            for images, numbers in zip(shown, draws, strict=True):
                images.append(frame(picture, numbers[row]))
        return [default_collate(images) for images in shown]  # in a worker: into memory that is shared, without a copy


def unreadable(paths: Sequence[Path]) -> Iterator[int]:
    """Indices of the files that are not pictures."""
    good = chain.from_iterable(in_processes(are_pictures, paths))
    return (number for number, is_picture in enumerate(good) if not is_picture)


def are_pictures(paths: Sequence[Path]) -> list[bool]:
    return [is_picture(path) for path in paths]


def is_picture(path: Path) -> bool:
    try:
        decode(path)
    except (ValueError, FileNotFoundError):  # or a link that leads nowhere
        return False
    return True
