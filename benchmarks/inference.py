"""python -m benchmarks.inference [threads=1]: a network without training, by ONNX Runtime and by torch.

Milliseconds of an image: processor time with one thread, time on the clock with all cores; random weights, images in
memory. Torch in its usual layout and with colours side by side (channels last), all images at once and a few at a
time. Seconds to write the file of ONNX and to open it, which happens once for a network, are told apart.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from tempfile import TemporaryDirectory
from typing import NamedTuple
from unittest.mock import patch

import torch
from rich.console import Console
from torch import Tensor, nn

from benchmarks.line import Line
from smoothpl.backbones.engine import by_onnxruntime
from smoothpl.backbones.onnx_session import AT_A_TIME
from smoothpl.io.cores import num_cores
from smoothpl.nets import WideResNet, pretrained

MANY = 64
TURNS, SHORTEST = 3, 0.1
"""Turns of each way, of which the fastest counts, and seconds of a turn."""
NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, int, int]]] = {
    "WideResNet-10-1": (lambda: WideResNet(10, channels=1, depth=10, width=1), (1, 8, 8)),
    "WideResNet-28-2": (lambda: WideResNet(10), (3, 32, 32)),
    "ResNet-18": (lambda: pretrained("torchvision", "resnet18", 10, size=96), (3, 96, 96)),
    "ResNet-50": (lambda: pretrained("torchvision", "resnet50", 10, size=96), (3, 96, 96)),
    "ConvNeXt-T": (lambda: pretrained("torchvision", "convnext_tiny", 10, size=96), (3, 96, 96)),
    "ViT-Ti/16": (lambda: pretrained("timm", "vit_tiny_patch16_224", 10, size=96), (3, 96, 96)),
    "MobileNetV3-S": (lambda: pretrained("torchvision", "mobilenet_v3_small", 10, size=96), (3, 96, 96)),
    "EfficientNet-Lite0": (lambda: pretrained("timm", "tf_efficientnet_lite0", 10, size=96), (3, 96, 96)),
}
COUNTS = sorted({1, num_cores()})
"""Of threads."""
IN_LINES = ("WideResNet-28-2", "ResNet-50", "ViT-Ti/16", "EfficientNet-Lite0")


class Source(NamedTuple):
    network: nn.Module
    dims: tuple[int, int, int]
    digest: str


class Times(NamedTuple):
    """Milliseconds of an image: torch as it is, with channels last, these a few at a time, and ONNX Runtime."""

    usual: float
    channels_last: float
    few: float
    onnx: float

    @property
    def torch(self) -> float:
        return min(self.channels_last, self.few)


def lines() -> Iterator[Line]:
    with cache_of_its_own():
        for threads in COUNTS:
            for name in IN_LINES:
                times, _ = measure(name, MANY, threads)
                what = f"{name}, {MANY} images, threads: {threads}, by ONNX Runtime"
                yield Line(what, times.onnx, times.torch, "ms", "torch, channels last", at_least=1.0)


@contextmanager
def cache_of_its_own() -> Iterator[float]:
    """In which a network is converted once. -> seconds of processor time for what has to be imported for that."""
    with TemporaryDirectory() as folder, patch.dict(os.environ, XDG_CACHE_HOME=folder):
        began = time.process_time()
        by_onnxruntime(Source(nn.Flatten(), (1, 8, 8), "imports"))
        yield time.process_time() - began


def measure(name: str, number: int, threads: int) -> tuple[Times, float]:
    """-> times, and the seconds it took to have it in ONNX Runtime: to write the file, if it was not there."""
    torch.set_num_threads(threads)
    make, dims = NETWORKS[name]
    torch.manual_seed(0)
    usual, images = make().eval().requires_grad_(False), torch.randn(number, *dims)
    last = make().eval().to(memory_format=torch.channels_last)
    last.load_state_dict(usual.state_dict())
    clock = time.process_time if threads == 1 else time.perf_counter
    began = clock()
    run = by_onnxruntime(Source(usual, dims, name.replace("/", "")))
    seconds = clock() - began
    jobs = [
        lambda: usual(images),
        lambda: last(colours_last(images)),
        lambda: [last(colours_last(some)) for some in torch.split(images, AT_A_TIME)],
        lambda: run(images),
    ]
    with torch.inference_mode():
        return Times(*(1e3 * found / number for found in fastest(jobs, clock))), seconds


def colours_last(images: Tensor) -> Tensor:
    return images.contiguous(memory_format=torch.channels_last)


def fastest(jobs: list[Callable[[], object]], clock: Callable[[], float]) -> list[float]:
    """Seconds of one call of each; they take turns."""
    best = [float("inf")] * len(jobs)
    for turn in range(TURNS + 1):
        for number, job in enumerate(jobs):
            calls, start = 0, clock()
            while not calls or (turn and clock() - start < SHORTEST):
                job()
                calls += 1
            if turn:  # in the first one memory is allocated, and caches are filled
                best[number] = min(best[number], (clock() - start) / calls)
    return best


def table(counts: Sequence[int]) -> Iterator[str]:
    """`counts`: of threads."""
    heads = ["network", "pixels", "images", "threads", "torch", "channels last", f"{AT_A_TIME} at a time"]
    heads += ["ONNX Runtime", "against the usual layout", "against channels last", "to write the file"]
    yield f"| {' | '.join(heads)} |"
    yield f"| --- |{' ---: |' * (len(heads) - 1)}"
    with cache_of_its_own() as imports:
        for name, (_, dims) in NETWORKS.items():
            written = ""
            for threads, number in product(counts, (1, MANY)):
                times, seconds = measure(name, number, threads)
                written = written or f"{seconds:.1f} s"
                ratios = [f"{times.usual / times.onnx:.3g}", f"{times.torch / times.onnx:.3g}"]
                cells = [name, dims[1], number, threads, *(f"{each:.3g} ms" for each in times), *ratios, written]
                yield f"| {' | '.join(map(str, cells))} |"
    yield f"Imports before a file can be written, once in a start: {imports:.1f} s"


if __name__ == "__main__":
    typed = [int(word.removeprefix("threads=")) for word in sys.argv[1:]]
    for row in table(typed or COUNTS):
        Console().print(row, markup=False, highlight=False, soft_wrap=True)
