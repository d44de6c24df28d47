"""Images, the first arrow of the data flow: published data sets, read and on request fetched by way of torchvision."""

import pickle
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torchvision import datasets
from torchvision.datasets.utils import extract_archive

from smoothpl.data.sets.download import download as download_file
from smoothpl.data.sets.download import locked, make_folder
from smoothpl.data.source import ImageSet, Source, images_of
from smoothpl.errors import ConfigError


@dataclass(frozen=True)
class Published:
    """Where a data set comes from and what torchvision wants to find below data.root."""

    name: str
    archives: tuple[tuple[str, str, str], ...]  # address, file name, MD5
    wanted: tuple[str, ...]
    unpack_into: str | None = ""  # below data.root; None: the files are read as they are
    instead: str = ""  # another folder that would do

    def open(self, root: str, download: bool, read: Callable[[Path], Source]) -> Source:
        place = Path(root).expanduser()
        missing = [name for name in self.wanted if not (place / name).exists()]
        if missing and not download:
            raise ConfigError(
                f"data.root={root} does not hold {', '.join(missing)}{self.instead}; data.download=true fetches "
                f"{self.name} ({', '.join(url for url, _, _ in self.archives)}), or name the folder that holds it as "
                "data.root or in the environment variable SMOOTHPL_DATA."
            )
        if missing:
            self.fetch(place)
        try:
            return read(place)
        except (RuntimeError, ValueError, OSError, EOFError, KeyError, AssertionError, pickle.UnpicklingError) as error:
            raise ConfigError(
                f"{', '.join(str(place / name) for name in self.wanted)}: damaged, or not the published data "
                f"({error}); remove it and fetch it again with data.download=true."
            ) from error

    def fetch(self, place: Path) -> None:
        """Fetches all or nothing: unpacks beside, then renames. A second run that wants the same data waits."""
        make_folder(place)
        with locked(place / f".{self.name}.lock"):
            if all((place / name).exists() for name in self.wanted):
                return
            if self.unpack_into is None:
                for url, name, md5 in self.archives:
                    download_file(url, place / name, md5)
                return
            draft = place / f".{self.name}.draft"
            shutil.rmtree(draft, ignore_errors=True)  # of a run that was killed
            packed = [place / f".{self.name}.downloads" / name for _, name, _ in self.archives]
            for path, (url, _, md5) in zip(packed, self.archives, strict=True):
                download_file(url, path, md5)
            (draft / self.unpack_into).mkdir(parents=True)
            try:
                for path in packed:
                    extract_archive(path, draft / self.unpack_into)
                for name in self.wanted:
                    (draft / name).replace(place / name)
            except OSError as error:
                raise ConfigError(
                    f"{self.name} could not be unpacked in {place}: {error.strerror or error}."
                ) from error
            finally:
                shutil.rmtree(draft, ignore_errors=True)
            shutil.rmtree(packed[0].parent)


def cifar(kind: Any, root: str, download: bool, instead: str) -> Source:
    """CIFAR-10 or CIFAR-100 from the pickled files that torchvision reads; it checks them against their MD5 first."""
    archives = ((kind.url, kind.filename, kind.tgz_md5),)
    published = Published(kind.__name__, archives, (kind.base_folder,), instead=instead)

    def read(place: Path) -> Source:
        train, test = (kind(place, train=train) for train in (True, False))
        both = [image_set(np.moveaxis(part.data, 3, 1), part.targets) for part in (train, test)]
        return Source(both[0], both[1], tuple(train.classes))

    return published.open(root, download, read)


@images_of(32)
def svhn(root: str, download: bool = False) -> Source:
    """House numbers of 32 x 32 pixels: 73,257 to train on, 26,032 to test; without the `extra` ones."""
    archives = tuple(tuple(datasets.SVHN.split_list[split]) for split in ("train", "test"))
    published = Published("SVHN", archives, tuple(name for _, name, _ in archives), unpack_into=None)

    def read(place: Path) -> Source:
        parts = (datasets.SVHN(place, split=split) for split in ("train", "test"))
        train, test = (image_set(part.data, part.labels) for part in parts)
        return Source(train, test, tuple("0123456789"))

    return published.open(root, download, read)


@images_of(96)
def stl10(root: str, download: bool = False) -> Source:
    """Photographs of 96 x 96 pixels: 5,000 with labels, 100,000 that nobody has labeled, 8,000 to test."""
    kind = datasets.STL10
    published = Published("STL10", ((kind.url, kind.filename, kind.tgz_md5),), (kind.base_folder,))

    def read(place: Path) -> Source:
        train, test = (kind(place, split=split) for split in ("train+unlabeled", "test"))
        both = [image_set(part.data, part.labels) for part in (train, test)]
        return Source(both[0], both[1], tuple(train.classes))

    return published.open(root, download, read)


@images_of(28)
def fashion_mnist(root: str, download: bool = False) -> Source:
    """Grey pictures of clothes, 28 x 28 pixels: 60,000 to train on, 10,000 to test.

    The packed files are checked by their MD5 when they are fetched; unpacked ones are checked for their format only.
    """
    kind = datasets.FashionMNIST
    archives = tuple((kind.mirrors[0] + name, name, md5) for name, md5 in kind.resources)
    published = Published("FashionMNIST", archives, ("FashionMNIST",), unpack_into="FashionMNIST/raw")

    def read(place: Path) -> Source:
        parts = (kind(place, train=train) for train in (True, False))
        train, test = (ImageSet(part.data.unsqueeze(1), part.targets) for part in parts)
        return Source(train, test, tuple(kind.classes))

    return published.open(root, download, read)


def image_set(images: np.ndarray[Any, Any], labels: Any) -> ImageSet:
    return ImageSet(torch.from_numpy(np.ascontiguousarray(images)), torch.as_tensor(np.asarray(labels)).long())
