"""python -m benchmarks.features: the bank of features against a bare loop of ONNX Runtime, a step of a head against its
bare products, and a second start against the first.

The bank is filled on the clock with all cores, with decoded images as they are: making views is measured elsewhere
(benchmarks.views). Needs SMOOTHPL_DATA and the extra `backbone`.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from benchmarks.folder import fastest
from benchmarks.line import Line, show
from benchmarks.peak import peak_memory
from benchmarks.setting import data_folder
from benchmarks.step import TakingTurns, take_turns
from smoothpl.backbones.efficientnet_lite import efficientnet_lite
from smoothpl.backbones.engine import Engine, engine_for
from smoothpl.backbones.onnx_session import AT_A_TIME
from smoothpl.data import ImageSet, cifar10
from smoothpl.data.features.bank import Bank
from smoothpl.data.features.contents import contents_of
from smoothpl.data.features.looks import Look
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.several import heads_of

NUM_IMAGES, SIDE = 2_000, 96
PLAIN = Look("plain", 0, None, None, None)
STEP = ("benchmark=digits_40", "backbone=efficientnet_lite0", "backbone.views=2")
FOLDER = (*STEP, "max_steps=100", "pictures=false", "logger=none")


def lines() -> Iterator[Line]:
    with TemporaryDirectory() as folder, patch.dict(os.environ, XDG_CACHE_HOME=folder):
        images = pictures(NUM_IMAGES)
        engine = engine_for(efficientnet_lite("lite0", SIDE, 1.0))
        prepared = engine.encoder.prepare(images.images)
        ours, bare = fastest([lambda: fill(engine, images, folder), lambda: bare_loop(engine, prepared)])
        most, less = (peak_of(folder, number) for number in (NUM_IMAGES, NUM_IMAGES // 4))
        first, second = starts(folder)
        of_step = step_line()
    many = f"{NUM_IMAGES:,} images of {SIDE} pixels"
    yield Line(f"{many} into the bank", ours, bare, "s", "ONNX Runtime over prepared tensors", at_least=0.9)
    yield Line(f"peak memory, {many} into the bank", most, less, "MB", "a quarter of them", at_most=1.1)
    yield Line("a second start", second, first, "s", "the first, which makes features")
    yield of_step


def pictures(number: int) -> ImageSet:
    """Photographs, as large as the backbone sees them."""
    few = cifar10(data_folder()).train.images[:number]  # type: ignore[attr-defined]
    large = torch.nn.functional.interpolate(few, (SIDE, SIDE), mode="bilinear", antialias=True)
    return ImageSet(large, torch.zeros(number, dtype=torch.long))


def fill(engine: Engine, images: ImageSet, folder: str) -> None:
    rmtree(Path(folder) / "smoothpl" / "features", ignore_errors=True)
    Bank(engine, {"plain": ""}).ensure(images, contents_of(images, None), [PLAIN])


def bare_loop(engine: Engine, prepared: Tensor) -> None:
    for some in torch.split(prepared, AT_A_TIME):
        engine.compute(some)


def peak_of(folder: str, number: int) -> int:
    """Megabytes of a process of its own, which reads images from a file as training does."""
    command = [sys.executable, "-m", "benchmarks.features", folder, str(number)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def print_peak(folder: str, number: int) -> None:
    stored = torch.from_file(f"{folder}/pixels", size=number * 3 * SIDE**2, dtype=torch.uint8, shared=True)
    images = ImageSet(stored.view(number, 3, SIDE, SIDE), torch.zeros(number, dtype=torch.long))
    stored.random_(generator=torch.Generator().manual_seed(0))
    fill(engine_for(efficientnet_lite("lite0", SIDE, 1.0)), images, folder)
    # Pages of a file are no memory of the program: the kernel takes them back when it needs them.
    sys.stdout.write(f"{peak_memory() - stored.numel() // 2**20}\n")


def starts(folder: str) -> tuple[float, float]:
    """Seconds from the command to its end, without features and with them."""
    rmtree(Path(folder) / "smoothpl" / "features", ignore_errors=True)
    times = []
    for number in (1, 2):
        began = time.perf_counter()
        command = [sys.executable, "-m", "smoothpl.train", *FOLDER, f"hydra.run.dir={folder}/{number}"]
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return times[0], times[1]


def step_line() -> Line:
    """64 + 2 x 448 vectors of 1,280 features, ten classes; CPU time of one core."""
    torch.set_num_threads(1)
    whole, alone = take_turns(TakingTurns(bare_products, time.process_time), *STEP)
    return Line("a step of a head, 512 + 448 vectors", 1e3 * whole, 1e3 * alone, "ms", "its bare products", at_most=1.5)


def bare_products(module: SemiSupervisedModule, batch: Any) -> Callable[[], object]:
    """Logits, and the gradient of the weights."""
    vectors, (head,) = torch.cat([batch.labeled, batch.weak, batch.strong]).float(), heads_of(module.network)
    weight, gradient = torch.randn(head.num_classes, head.dim), torch.randn(len(vectors), head.num_classes)
    return lambda: (vectors @ weight.T, gradient.T @ vectors)


if __name__ == "__main__":
    print_peak(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 1 else show(lines())
