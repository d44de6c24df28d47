"""python -m benchmarks.crowd: a step while another process keeps one core busy, against the same step alone.

With as many threads as there are cores, as a run has them. Threads that wait busily for each other hold the cores that
they wait for: one that is taken away then costs several times its share. Needs SMOOTHPL_DATA.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from lightning import Callback, LightningModule, Trainer

from benchmarks.line import Line, show
from benchmarks.setting import data_folder
from benchmarks.step import COMMON, SMALL
from smoothpl.config.compose import compose_checked
from smoothpl.io.cores import num_cores
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries

CIFAR = ("benchmark=cifar10_40", f"batch_size={SMALL}")
DIGITS = ("benchmark=digits_40",)
TURN, TURNS = 1.5, 3
"""Seconds of a turn, and of two steps at least; turns alone, and as many in company. The fastest of each counts."""
BUSY = "while True: pass"
SETTLING = 0.2
"""Seconds until the other process has started, or ended."""


class InCompany(Callback):
    """Every other turn somebody else keeps a core busy."""

    def __init__(self) -> None:
        self.seconds: dict[bool, list[float]] = {False: [], True: []}
        self.other: subprocess.Popen[bytes] | None = None
        self.began, self.steps = 0.0, 0

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        passed, self.steps = time.perf_counter() - self.began, self.steps + 1
        if self.began and (passed < TURN or self.steps < 2):
            return
        if self.began:
            self.seconds[self.other is not None].append(passed / self.steps)
        trainer.should_stop = min(map(len, self.seconds.values())) == TURNS
        self.change()
        self.began, self.steps = time.perf_counter(), 0

    def change(self) -> None:
        if self.other is None:
            self.other = subprocess.Popen([sys.executable, "-c", BUSY])
        else:
            self.leave()
        time.sleep(SETTLING)

    def leave(self) -> None:
        if self.other is not None:
            self.other.kill()
            self.other.wait()
            self.other = None

    def on_exception(self, *_: Any) -> None:
        self.leave()

    def on_train_end(self, *_: Any) -> None:
        self.leave()


def lines() -> Iterator[Line]:
    data_folder()
    torch.set_num_threads(num_cores())
    for name, knobs in (("WideResNet-28-2, 4 + 2 x 28", CIFAR), ("digits_40, 16 + 2 x 112", DIGITS)):
        company = measure(*knobs)
        alone, crowded = (min(company.seconds[busy]) for busy in (False, True))
        what = f"a step beside a process that keeps one core busy, {name}"
        yield Line(what, 1e3 * crowded, 1e3 * alone, "ms", "the same step alone", at_most=2.2)


def measure(*knobs: str) -> InCompany:
    quiet_libraries()
    config, company = compose_checked([*knobs, *COMMON]), InCompany()
    build_trainer(config, Path(), last=[company]).fit(build_module(config), datamodule=build_data(config))
    return company


if __name__ == "__main__":
    show(lines())
