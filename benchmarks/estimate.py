"""python -m benchmarks.estimate: a run of the paper on A100s, on paper: operations and bytes, not measurements.

Operations of a step are counted by torch on the real network; backward is twice forward. How much of the peak can be
reached is an assumption: WideResNet-28-2 is small, and keeps a large GPU waiting for memory. The memory of a step is
counted, too, on tensors without values (smoothpl/run/step_memory.py, which says what is not in it).
"""

from typing import NamedTuple

import torch
from rich import box
from rich.console import Console
from rich.table import Table
from torch.utils.flop_counter import FlopCounterMode

from smoothpl.config.compose import compose_checked
from smoothpl.run.build import build_module
from smoothpl.run.step_memory import count
from smoothpl.run.step_time import image_size

PEAKS = {"TF32": 156e12, "16": 312e12}
"""NVIDIA's data sheet of the A100, dense, operations per second."""
PRECISIONS = {"TF32": "32-true", "16": "bf16-mixed"}
REACHED = (0.1, 0.4)
"""Shares of the peak: pessimistic and optimistic."""


class Estimate(NamedTuple):
    operations: float  # of a run
    image_bytes: float  # that a step brings to the GPU


def main() -> None:
    table = Table(
        "a run", "bits", "GPUs", "exaflop", "MB a step", "hours", "GB", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for benchmark, forward in (("cifar10_40", "joint"), ("cifar10_40", "split"), ("imagenet_10pct", "joint")):
        found = estimate(benchmark, forward)
        for precision, peak in PEAKS.items():
            for devices in (1, 8):
                slow, fast = (found.operations / (peak * share * devices) / 3600 for share in REACHED)
                cells = [f"{benchmark}, {forward}", precision, str(devices), f"{found.operations / 1e18:,.0f}"]
                cells += [f"{found.image_bytes / devices / 1e6:.1f}", f"{fast:,.1f} to {slow:,.1f}"]
                table.add_row(*cells, f"{memory(benchmark, forward, precision, devices) / 1e9:,.1f}")
    Console().print(table)


def estimate(benchmark: str, forward: str = "joint") -> Estimate:
    config = compose_checked([f"benchmark={benchmark}", f"forward={forward}", "data.root=."])
    height, width = image_size(config)
    channels = config.data.channels
    network = build_module(config).network
    with torch.device("meta"):
        images = torch.empty(1, channels, height, width)
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        network.to("meta").eval()(images)
    unlabeled = config.batch_size * config.unlabeled_ratio
    learned, without_gradient = config.batch_size + unlabeled, unlabeled
    forwards = 3 * learned + (3 if forward == "joint" else 1) * without_gradient
    pictures = config.batch_size + unlabeled * (2 if "frame" in config.views else 1)
    operations = counter.get_total_flops() * forwards * config.max_steps
    return Estimate(operations, pictures * channels * height * width)


def memory(benchmark: str, forward: str, precision: str, devices: int) -> int:
    """Bytes on each of them."""
    words = [f"benchmark={benchmark}", f"forward={forward}", f"trainer.precision={PRECISIONS[precision]}"]
    return count(compose_checked([*words, "trainer=ddp", f"trainer.devices={devices}", "data.root=."]))


if __name__ == "__main__":
    main()
