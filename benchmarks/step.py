"""python -m benchmarks.step: a whole training step, against its bare forward, backward and SGD, and the usual loop.

A whole step is data, views, network, weighting, losses, SGD, average, logging, Lightning. What is compared takes turns
within one run of the trainer, so that both meet the same machine. Against the bare step CPU time of one core counts;
against the loop, whose views are made by workers, time on the clock with all cores. Needs SMOOTHPL_DATA.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from lightning import Callback, LightningModule, Trainer

from benchmarks.bare_step import bare_step
from benchmarks.line import Line, show
from benchmarks.plain_loop import WORKERS, PlainLoop
from benchmarks.setting import data_folder
from smoothpl.config.compose import compose_checked
from smoothpl.module import SemiSupervisedModule
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries

SMALL = 4
"""Labeled images of a step, against the usual loop."""
CIFAR = ("benchmark=cifar10_40", "batch_size=16")
DIGITS = ("benchmark=digits_40",)
COMMON = (
    *("max_steps=100000", "eval_every=100000", "log_every=50"),
    *("logger=none", "callbacks.progress=null", "pictures=false"),
    "+trainer.limit_val_batches=0",  # a trainer that is stopped would look at all test images
)
SHORTEST = 0.5
"""Seconds of a turn: short steps are measured many at a time."""
TURNS = 3
AGAINST_LOOP: dict[str, float] = {
    "": 1.4,
    "forward=split": 2.0,
    "compile=true": 1.4,
}


class TakingTurns(Callback):
    """Lets the trainer make some steps, then something else as many, and so on; the fastest turn of each counts."""

    def __init__(
        self,
        other: Callable[[SemiSupervisedModule, Any], Callable[[], object]],
        clock: Any,
        settle: Callable[[], object] = lambda: None,
        rest: Callable[[], object] = lambda: None,
        at_least: int = 1,
    ) -> None:
        self.make_other = other
        self.clock = clock
        self.settle = settle  # before the other's turn, and
        self.rest = rest  # after it: neither is counted
        self.other: Callable[[], object] | None = None
        self.at_least = at_least  # steps of a turn
        self.size = 1
        self.whole, self.alone = float("inf"), float("inf")
        self.began = 0.0

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if self.other is None:
            assert isinstance(pl_module, SemiSupervisedModule)
            self.other = self.make_other(pl_module, batch)
            self.other()  # memory is allocated
            start = self.clock()
            self.other()
            self.size = max(self.at_least, round(SHORTEST / (self.clock() - start)))
        if (batch_idx + 1) % self.size:
            return
        if self.began:
            self.whole = min(self.whole, (self.clock() - self.began) / self.size)
        self.settle()
        now = self.clock()
        for _ in range(self.size):
            self.other()
        self.alone = min(self.alone, (self.clock() - now) / self.size)
        self.rest()
        if batch_idx + 1 >= (TURNS + 1) * self.size:
            trainer.should_stop = True
        self.began = self.clock()


def lines() -> Iterator[Line]:
    data_folder()
    for name, knobs, target in (("WideResNet-28-2", CIFAR, 1.05), ("digits_40", DIGITS, None)):
        whole, alone = against_bare(*knobs)
        what = f"a whole step, {name}, 16 + 2 x 112, one core"
        yield Line(what, 1e3 * whole, 1e3 * alone, "ms", "bare forward, backward, SGD", at_most=target)
    what = f"a whole step, WideResNet-28-2, {SMALL} + 2 x {7 * SMALL}"
    loop = PlainLoop(SMALL, num_workers=WORKERS)
    for words, at_least in AGAINST_LOOP.items():
        whole, usual = against_loop(loop, *words.split())
        yield Line(f"{what} {words}".strip(), 1e3 * whole, 1e3 * usual, "ms", "the usual loop", at_least=at_least)


def against_bare(*knobs: str) -> tuple[float, float]:
    """CPU seconds of a whole step and of a bare one."""

    def bare(module: SemiSupervisedModule, batch: Any) -> Callable[[], None]:
        return bare_step(module.network, torch.cat([batch.labeled, batch.weak, batch.strong]))

    torch.set_num_threads(1)
    return take_turns(TakingTurns(bare, time.process_time), *knobs)


def against_loop(loop: PlainLoop, *knobs: str) -> tuple[float, float]:
    """Seconds on the clock."""
    torch.set_num_threads(os.cpu_count() or 1)
    turns = TakingTurns(lambda *_: loop.step, time.perf_counter, loop.use_up, loop.rest, at_least=3)
    return take_turns(turns, "benchmark=cifar10_40", f"batch_size={SMALL}", *knobs)


def take_turns(turns: TakingTurns, *knobs: str) -> tuple[float, float]:
    quiet_libraries()
    config = compose_checked([*knobs, *COMMON])
    build_trainer(config, Path(), last=[turns]).fit(build_module(config), datamodule=build_data(config))
    return turns.whole, turns.alone


if __name__ == "__main__":
    show(lines())
