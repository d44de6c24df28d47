"""Small data sets in the formats of the published ones, on a server of our own instead of the authors'."""

import gzip
import hashlib
import pickle
import struct
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat
from torchvision import datasets

from tests.support.web import Web, serving

CHANCE = np.random.default_rng(0)


def md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes()).hexdigest()


def pixels(*dims: int) -> np.ndarray[Any, Any]:
    return CHANCE.integers(256, size=dims, dtype=np.uint8)


def publish_cifar(kind: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """The same files as the real ones, with 20 images each."""
    content = folder / kind.base_folder
    content.mkdir()
    for name, _ in kind.train_list + kind.test_list:
        (content / name).write_bytes(pickle.dumps({"data": pixels(20, 3072), key: list(range(10)) * 2}))
    names = [f"class {c}" for c in range(10)]
    (content / kind.meta["filename"]).write_bytes(pickle.dumps({kind.meta["key"]: names}))
    pack(kind, content, monkeypatch)
    monkeypatch.setattr(kind, "meta", kind.meta | {"md5": md5(content / kind.meta["filename"])})


def publish_stl10(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = datasets.STL10
    content = folder / kind.base_folder
    content.mkdir()
    pixels(20, 3, 96, 96).tofile(content / "train_X.bin")
    pixels(30, 3, 96, 96).tofile(content / "unlabeled_X.bin")
    pixels(10, 3, 96, 96).tofile(content / "test_X.bin")
    np.tile(np.arange(1, 11, dtype=np.uint8), 2).tofile(content / "train_y.bin")
    np.arange(1, 11, dtype=np.uint8).tofile(content / "test_y.bin")
    (content / "class_names.txt").write_text("\n".join(f"class {c}" for c in range(10)))
    pack(kind, content, monkeypatch)


def pack(kind: Any, content: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("train_list", "test_list"):
        monkeypatch.setattr(kind, part, [[name, md5(content / name)] for name, _ in getattr(kind, part)])
    archive = content.parent / kind.filename
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(content, content.name)
    monkeypatch.setattr(kind, "tgz_md5", md5(archive))


def publish_svhn(folder: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    listing = {}
    for split, count in (("train", 20), ("test", 10)):
        path = folder / f"{split}_32x32.mat"
        savemat(path, {"X": pixels(32, 32, 3, count), "y": np.arange(1, count + 1).reshape(-1, 1) % 10 + 1})
        listing[split] = [url + path.name, path.name, md5(path)]
    monkeypatch.setattr(datasets.SVHN, "split_list", listing)


def publish_fashion_mnist(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listing = []
    for name, count in (("train", 20), ("t10k", 10)):
        images, labels = (
            (f"{name}-images-idx3-ubyte.gz", struct.pack(">iiii", 2051, count, 28, 28) + pixels(count, 784).tobytes()),
            (f"{name}-labels-idx1-ubyte.gz", struct.pack(">ii", 2049, count) + bytes(i % 10 for i in range(count))),
        )
        for file, content in (images, labels):
            (folder / file).write_bytes(gzip.compress(content))
            listing.append((file, md5(folder / file)))
    monkeypatch.setattr(datasets.FashionMNIST, "resources", listing)


@contextmanager
def publishing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """`folder` is what is served."""
    folder.mkdir()
    with serving(folder) as server:
        publish_cifar(datasets.CIFAR10, folder, monkeypatch, "labels")
        publish_cifar(datasets.CIFAR100, folder, monkeypatch, "fine_labels")
        publish_stl10(folder, monkeypatch)
        publish_svhn(folder, monkeypatch, server.url)
        publish_fashion_mnist(folder, monkeypatch)
        for kind in (datasets.CIFAR10, datasets.CIFAR100, datasets.STL10):
            monkeypatch.setattr(kind, "url", server.url + kind.filename)
        monkeypatch.setattr(datasets.FashionMNIST, "mirrors", [server.url])
        yield server
