"""python -m benchmarks.folder: a folder of many small JPEGs, decoded once and predicted, against decoding and resizing.

All cores, on the clock. Training reads what was decoded from the cache, so that decoding is all that a folder adds to
it. The network is the smallest one that there is: what counts is whether the cores are kept busy. Needs SMOOTHPL_DATA.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from unittest.mock import patch

import torch
from PIL import Image
from torch import nn
from torch.nn.functional import interpolate
from torchvision.io import ImageReadMode, decode_image

from benchmarks.line import Line, show
from benchmarks.peak import peak_memory
from benchmarks.setting import data_folder
from smoothpl.data import cifar10
from smoothpl.data.folder.decoded import decode_all, digests_of_files
from smoothpl.data.frames import CentralCrop
from smoothpl.inference.classifier import Classifier
from smoothpl.inference.joined import CHUNK
from smoothpl.inference.predictions import predict
from smoothpl.io.cache import state_of
from smoothpl.io.cores import num_cores

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
        cache = f"{folder}/cache"
        classifier = tiny_classifier()
        jobs: list[Callable[[], object]] = [
            lambda: hash_without_cache(paths, cache),
            lambda: decode_without_cache(paths, cache),
            lambda: share_out(decode_share, paths),
            lambda: list(predict(classifier, paths, [])),
            lambda: share_out(partial(predict_share, classifier), paths),
        ]
        with patch.dict(os.environ, XDG_CACHE_HOME=cache):
            hashed, cached, decoded, predicted, seen = fastest(jobs)
        most, less = (peak_of(Path(folder), number) for number in (len(paths), len(paths) // 10))
    many = f"{len(paths):,} small JPEGs"
    yield Line(f"{many} hashed, once", hashed, decoded, "s", "decoding and resizing alone")
    yield Line(f"{many} decoded into the cache", cached, decoded, "s", "decoding and resizing alone", at_least=0.9)
    yield Line(f"{many} predicted", predicted, seen, "s", "decoding, resizing and the network alone", at_least=0.9)
    yield Line(f"peak memory, {many} predicted", most, less, "MB", "a tenth of them", at_most=1.1)


def hash_without_cache(paths: Sequence[Path], cache: str) -> None:
    """Every file, once, before it is decoded: its content is what a decoded image is known by."""
    rmtree(cache, ignore_errors=True)
    digests(paths)


def decode_without_cache(paths: Sequence[Path], cache: str) -> None:
    """As a first training does it, when files have been hashed."""
    rmtree(Path(cache) / "smoothpl" / "decoded", ignore_errors=True)
    decode_all(paths, digests(paths), SIDE)


def digests(paths: Sequence[Path]) -> list[str]:
    return digests_of_files(paths, [state_of(path) for path in paths])


def tiny_classifier() -> Classifier:
    return Classifier(OneLayer(), "rgb", CentralCrop(SIDE, 1.0), [0.5] * 3, [0.5] * 3)


def peak_of(folder: Path, number: int) -> int:
    """Megabytes of a process of its own."""
    command = [sys.executable, "-m", "benchmarks.folder", str(folder), str(number)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def print_peak(folder: Path, number: int) -> None:
    for _ in predict(tiny_classifier(), sorted(folder.glob("*.jpg"))[:number], []):
        pass
    sys.stdout.write(f"{peak_memory()}\n")


def make_up(folder: Path) -> list[Path]:
    images = cifar10(data_folder()).train.images[:NUM_FILES]  # type: ignore[attr-defined]
    paths = [folder / f"{number:05}.jpg" for number in range(len(images))]
    for path, image in zip(paths, images, strict=True):
        Image.fromarray(image.permute(1, 2, 0).numpy()).resize((2 * SIDE, 2 * SIDE)).save(path, quality=90)
    return paths


def share_out(work: Callable[[Sequence[Path]], object], paths: Sequence[Path]) -> None:
    """One process for each core with its share: nothing is handed over, and order does not matter."""
    cores = num_cores()
    processes = [get_context("fork").Process(target=work, args=(paths[n::cores],)) for n in range(cores)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def decode_share(paths: Sequence[Path]) -> None:
    for path in paths:
        decode(path)


@torch.inference_mode()
def predict_share(network: nn.Module, paths: Sequence[Path]) -> None:
    for start in range(0, len(paths), CHUNK):
        network(torch.stack([decode(path) for path in paths[start : start + CHUNK]]))


def decode(path: Path) -> torch.Tensor:
    """As directly as possible: nothing is checked before."""
    picture = decode_image(str(path), ImageReadMode.RGB, apply_exif_orientation=True)
    return interpolate(picture.unsqueeze(0), (SIDE, SIDE), mode="bilinear", antialias=True).squeeze(0)


def fastest(jobs: Sequence[Callable[[], object]], turns: int = 3) -> list[float]:
    """Seconds of each; they take turns."""
    found = []
    for _ in range(turns):
        for job in jobs:
            start = time.perf_counter()
            job()
            found.append(time.perf_counter() - start)
    return [min(found[number :: len(jobs)]) for number in range(len(jobs))]


if __name__ == "__main__":
    print_peak(Path(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 1 else show(lines())
