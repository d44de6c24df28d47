"""python -m benchmarks.engine: a whole training step against its bare forward, backward and SGD; memory; the start.

The bare step has a network of the same kind, tensors of the same size that never change, cross-entropy and SGD. Both
take turns within one run of the trainer, so that they meet the same machine. Needs SMOOTHPL_DATA.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from lightning import Callback, LightningModule, Trainer
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.optim import SGD

from benchmarks.setting import data_folder
from smoothpl.build import build_data, build_module, build_trainer
from smoothpl.callbacks import EMA
from smoothpl.looking import compose_checked
from smoothpl.module import SemiSupervisedModule
from smoothpl.train import quiet_libraries

CIFAR = ("benchmark=cifar10_40", "batch_size=16")
DIGITS = ("benchmark=digits_40",)
COMMON = ("max_steps=100000", "eval_every=100000", "log_every=50", "logger=none", "callbacks.progress=null")
KINDS = {
    "WideResNet-28-2, 16 + 2 x 112": CIFAR,
    "the same, forward=split": (*CIFAR, "forward=split"),
    "digits_40, 16 + 2 x 112": DIGITS,
}
SHORTEST = 0.5
"""Seconds of a turn: short steps are measured many at a time."""
TURNS = 8


class TakingTurns(Callback):
    """Lets the trainer make some steps, then makes as many bare ones, and so on; the fastest turn of each counts."""

    def __init__(self) -> None:
        self.bare: Callable[[], None] | None = None
        self.size = 1
        self.whole, self.alone = float("inf"), float("inf")
        self.began = 0.0

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if self.bare is None:
            assert isinstance(pl_module, SemiSupervisedModule)
            self.bare = bare_step(pl_module.network, torch.cat([batch.labeled, batch.weak, batch.strong]))
            self.bare()  # memory is allocated
            start = time.process_time()
            self.bare()
            self.size = max(1, round(SHORTEST / (time.process_time() - start)))
        if (batch_idx + 1) % self.size:
            return
        now = time.process_time()
        if self.began:
            self.whole = min(self.whole, (now - self.began) / self.size)
        for _ in range(self.size):
            self.bare()
        self.alone = min(self.alone, (time.process_time() - now) / self.size)
        if batch_idx + 1 >= (TURNS + 1) * self.size:
            trainer.should_stop = True
        self.began = time.process_time()


def main() -> None:
    if sys.argv[1:2] == ["memory"]:
        return print_peak(sys.argv[2])
    data_folder()
    console = Console()
    peak_of_run, peak_of_bare = peak("run"), peak("bare")  # first: a child is charged with the memory of its parent
    table = Table("one step, one core", "smoothpl", "bare", "ratio", "EMA alone")
    for name, knobs in KINDS.items():
        whole, alone, average = step_of(*knobs)
        share = f"{100 * average / whole:.2f} %"
        table.add_row(name, f"{1e3 * whole:.1f} ms", f"{1e3 * alone:.1f} ms", f"{whole / alone:.3f}", share)
    console.print(table)
    console.print(f"peak memory, WideResNet-28-2: {peak_of_run} MB, bare step {peak_of_bare} MB")
    first, imports = seconds_to_first_step(), seconds_of_imports()
    console.print(f"start to first step: {first:.1f} s, imports and reading {imports:.1f} s: {first / imports:.2f}")
    return None


def step_of(*knobs: str) -> tuple[float, float, float]:
    """CPU seconds of a whole step, of a bare one, and of the average's update."""
    torch.set_num_threads(1)
    quiet_libraries()
    config = compose_checked([*knobs, *COMMON])
    module = build_module(config)
    turns = TakingTurns()
    trainer = build_trainer(config, Path(), last=[turns])
    trainer.fit(module, datamodule=build_data(config))
    (ema,) = [callback for callback in trainer.callbacks if isinstance(callback, EMA)]  # type: ignore[attr-defined]
    start = time.process_time()
    for _ in range(50):
        ema.update(ema.averaged, ema.live, 0)
    return turns.whole, turns.alone, (time.process_time() - start) / 50


def bare_step(network: nn.Module, images: Tensor) -> Callable[[], None]:
    network = deepcopy(network)
    images = images.contiguous(memory_format=torch.channels_last)
    label = torch.randint(10, (len(images),))
    optimizer = SGD(network.parameters(), lr=0.0, momentum=0.9, nesterov=True)

    def step() -> None:
        nn.functional.cross_entropy(network(images), label).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def peak(what: str) -> int:
    command = [sys.executable, "-m", "benchmarks.engine", "memory", what]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def print_peak(what: str) -> None:
    """Of this process, in megabytes; both variants import the same."""
    torch.set_num_threads(1)
    quiet_libraries()
    config = compose_checked([*CIFAR, *COMMON, "max_steps=3"])
    module = build_module(config)
    if what == "bare":
        step = bare_step(module.network, torch.randn(16 + 2 * 112, 3, 32, 32))
        for _ in range(3):
            step()
    else:
        build_trainer(config, Path()).fit(module, datamodule=build_data(config))
    sys.stdout.write(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}\n")


class Clock(Callback):
    """Ends the process at its first step, when all is ready."""

    def on_train_batch_end(self, *_: Any) -> None:
        os._exit(0)


def seconds_to_first_step() -> float:
    knobs = ("benchmark=cifar10_40", "batch_size=2", "+callbacks.clock._target_=benchmarks.engine.Clock")
    with TemporaryDirectory() as folder:
        return seconds_of("-m", "smoothpl.train", *knobs, f"hydra.run.dir={folder}/${{now:%H-%M-%S-%f}}")


def seconds_of_imports() -> float:
    """What any such program would have to do."""
    reading = "[p.read_bytes() for p in pathlib.Path(os.environ['SMOOTHPL_DATA']).glob('cifar-10-batches-bin/*.bin')]"
    return seconds_of("-c", f"import os, pathlib, torch, lightning; {reading}")


def seconds_of(*arguments: str) -> float:
    """The fastest of three."""
    times = []
    for _ in range(3):
        start = time.monotonic()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        times.append(time.monotonic() - start)
    return min(times)


if __name__ == "__main__":
    main()
