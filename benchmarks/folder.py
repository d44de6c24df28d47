"""python -m benchmarks.folder: a folder of many small JPEGs, decoded once and predicted, against decoding and resizing.

All cores, on the clock. Training reads what was decoded from the cache, so that decoding is all that a folder adds to
it. The network is the smallest one that there is: what counts is whether the cores are kept busy. Needs SMOOTHPL_DATA.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from PIL import Image
from torch import nn

from benchmarks.line import Line, show
from benchmarks.setting import data_folder
from smoothpl.classifier import Classifier
from smoothpl.data import cifar10
from smoothpl.data.decoded import decode_safely, fill
from smoothpl.data.frames import CentralCrop
from smoothpl.predict import predict

NUM_FILES, SIDE = 20_000, 32


class OneLayer(nn.Module):
    """Fast, so that it keeps nobody waiting."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return images.mean(dim=(2, 3))


def lines() -> Iterator[Line]:
    data_folder()
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        paths = make_up(Path(folder))
        classifier = Classifier(OneLayer(), "rgb", CentralCrop(SIDE, 1.0), [0.5] * 3, [0.5] * 3)
        bare = seconds_of(lambda: decode_only(paths))
        cached = seconds_of(lambda: fill(Path(folder) / "store.npy", paths, SIDE))
        predicted = seconds_of(lambda: list(predict(classifier, paths, [])))
    for what, seconds in (("decoded into the cache", cached), ("predicted", predicted)):
        yield Line(
            f"{len(paths):,} small JPEGs {what}", seconds, bare, "s", "decoding and resizing alone", at_least=0.9
        )


def make_up(folder: Path) -> list[Path]:
    images = cifar10(data_folder()).train.images[:NUM_FILES]  # type: ignore[attr-defined]
    paths = [folder / f"{number:05}.jpg" for number in range(len(images))]
    for path, image in zip(paths, images, strict=True):
        Image.fromarray(image.permute(1, 2, 0).numpy()).resize((2 * SIDE, 2 * SIDE)).save(path, quality=90)
    return paths


def decode_only(paths: Sequence[Path]) -> None:
    """One thread for each core, each with its share: nothing is handed over, nothing is in order."""
    cores, frame, nothing = len(os.sched_getaffinity(0)), CentralCrop(SIDE, 1.0), torch.empty(0)

    def share(number: int) -> None:
        for path in paths[number::cores]:
            frame(decode_safely(path), nothing)

    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(share, range(cores)))


def seconds_of(job: Callable[[], object], times: int = 2) -> float:
    """The faster of two."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        job()
        found.append(time.perf_counter() - start)
    return min(found)


if __name__ == "__main__":
    show(lines())
