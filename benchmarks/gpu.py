"""python -m benchmarks.gpu: images per second on a GPU, how long it waits, and its memory against what was counted.

Without a GPU, nothing.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from lightning import Callback

from benchmarks.line import Line, show
from benchmarks.setting import data_folder
from smoothpl.config.compose import compose_checked
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries
from smoothpl.run.step_memory import peak_of_step

WARM_UP, STEPS = 20, 100
KINDS = (
    "",
    "trainer.precision=bf16-mixed",
    "compile=true",
    "compile=true trainer.precision=bf16-mixed",
    "compile=true forward=split",
)


def timed_event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


class Stopwatch(Callback):
    """On the clock, and on the device between the first operation of a step and its last."""

    def __init__(self) -> None:
        self.began = 0.0
        self.seconds = 0.0
        self.busy: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        if batch_idx == WARM_UP:
            torch.cuda.synchronize()
            self.began = time.perf_counter()
        if batch_idx >= WARM_UP:
            self.busy.append((timed_event(), timed_event()))
            self.busy[-1][0].record()

    def on_train_batch_end(self, *_: Any) -> None:
        if self.busy:
            self.busy[-1][1].record()

    def on_train_end(self, *_: Any) -> None:
        torch.cuda.synchronize()
        self.seconds = (time.perf_counter() - self.began) / STEPS


def lines() -> Iterator[Line]:
    if not torch.cuda.is_available():
        return
    data_folder()
    quiet_libraries()
    for words in KINDS:
        knobs = ["benchmark=cifar10_40", *words.split(), f"max_steps={WARM_UP + STEPS}", "eval_every=100000"]
        config = compose_checked([*knobs, "logger=none", "callbacks.progress=null", "trainer.accelerator=gpu"])
        watch = Stopwatch()
        torch.cuda.reset_peak_memory_stats()
        build_trainer(config, Path(), last=[watch]).fit(build_module(config), datamodule=build_data(config))
        busy = sum(first.elapsed_time(last) for first, last in watch.busy) / STEPS
        rate = config.batch_size * (1 + 2 * config.unlabeled_ratio) / watch.seconds
        what = f"a step of cifar10_40 on the GPU, {rate:,.0f} images/s {words}".strip()
        yield Line(what, 1e3 * watch.seconds, busy, "ms", "the device busy")
        counted = peak_of_step(config)
        most = torch.cuda.max_memory_allocated() / 1e6
        yield Line(f"its memory {words}".strip(), most, counted and counted / 1e6, "MB", "counted, not compiled")


if __name__ == "__main__":
    show(lines())
