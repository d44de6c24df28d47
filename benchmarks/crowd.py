"""python -m benchmarks.crowd: a step while another process keeps one core busy, against the same step alone.

And whether a step alone is as fast with threads that wait politely (smoothpl/io/threads.py) as with threads that spin.

Whole steps of a run with as many threads as there are cores, in one process that waits politely and one that does not:
OpenMP reads its settings once. The two take turns, alone and then in company. Needs SMOOTHPL_DATA.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from pathlib import Path
from statistics import median
from typing import IO, Any, NamedTuple

import torch
from lightning import Callback, LightningModule, Trainer

from benchmarks.line import Line, show
from benchmarks.setting import data_folder
from benchmarks.step import COMMON, SMALL
from smoothpl.config.compose import compose_checked
from smoothpl.io.cores import num_cores
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries

NETS = {
    f"WideResNet-28-2, {SMALL} + 2 x {7 * SMALL}": ("benchmark=cifar10_40", f"batch_size={SMALL}"),
    "digits_40, 16 + 2 x 112": ("benchmark=digits_40",),
}
SPINNING = {"GOMP_SPINCOUNT": "300000"}
"""What GNU's OpenMP, which torch brings along, does if nobody says otherwise; smoothpl leaves it as it is then."""
WORKER = (sys.executable, "-m", "benchmarks.crowd")
TURN, TURNS = 1.5, 5
"""Seconds of a turn, and of two steps at least; turns alone, and as many in company."""
WARM = 3
"""Steps that are not counted."""
BUSY = "while True: pass"
SETTLING = 0.2
"""Seconds until the other process has started."""


class Seconds(NamedTuple):
    """Of a step, turn by turn."""

    alone: list[float]
    crowded: list[float]


def lines() -> Iterator[Line]:
    data_folder()
    for name, knobs in NETS.items():
        polite, spinning = measure(*knobs)
        what = f"a step beside a process that keeps one core busy, {name}"
        for each, suffix, target in ((polite, "", 2.2), (spinning, ", threads that spin", None)):
            # Alone, others can only slow it down; in company, luck does not count.
            crowded, alone = median(each.crowded), min(each.alone)
            yield Line(f"{what}{suffix}", 1e3 * crowded, 1e3 * alone, "ms", "the same step alone", at_most=target)
        fast, reference = min(polite.alone), min(spinning.alone)
        yield Line(f"a step alone, {name}", 1e3 * fast, 1e3 * reference, "ms", "threads that spin", at_most=1.03)


def measure(*knobs: str) -> tuple[Seconds, Seconds]:
    """With threads that wait politely, and with threads that spin."""
    results = Seconds([], []), Seconds([], [])
    with ExitStack() as running:
        workers = [running.enter_context(worker(knobs, environment)) for environment in ({}, SPINNING)]
        for _ in range(TURNS):
            for each, result in zip(workers, results, strict=True):
                result.alone.append(turn(each))
            with company():
                for each, result in zip(workers, results, strict=True):
                    result.crowded.append(turn(each))
    return results


@contextmanager
def worker(knobs: tuple[str, ...], environment: dict[str, str]) -> "Iterator[subprocess.Popen[str]]":
    """A process that trains, ready for its first turn."""
    pipe = subprocess.PIPE
    own = os.environ | environment
    with subprocess.Popen([*WORKER, *knobs], env=own, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            assert process.stdout is not None
            if not process.stdout.readline():
                sys.exit(process.wait())  # it has printed why
            yield process
        finally:
            process.kill()


def turn(process: "subprocess.Popen[str]") -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return float(process.stdout.readline())


@contextmanager
def company() -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", BUSY]) as other:
        try:
            time.sleep(SETTLING)
            yield
        finally:
            other.kill()


class Turns(Callback):
    """Says that it is ready; then makes steps whenever a line comes in, and answers with the seconds of one."""

    def __init__(self, commands: IO[str], answers: IO[str]) -> None:
        self.commands = commands
        self.answers = answers
        self.began, self.steps = 0.0, 0

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        passed, self.steps = time.perf_counter() - self.began, self.steps + 1
        if self.began and (passed < TURN or self.steps < 2):
            return
        if not self.began and self.steps < WARM:
            return
        with suppress(BrokenPipeError):  # nobody wants to know any more
            self.answers.write(f"{passed / self.steps}\n" if self.began else "ready\n")
            self.answers.flush()
        trainer.should_stop = not self.commands.readline()
        self.began, self.steps = time.perf_counter(), 0


def answer(knobs: list[str], commands: IO[str], answers: IO[str]) -> None:
    torch.set_num_threads(num_cores())
    quiet_libraries()
    config, turns = compose_checked([*knobs, *COMMON]), Turns(commands, answers)
    build_trainer(config, Path(), last=[turns]).fit(build_module(config), datamodule=build_data(config))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        answers = sys.stdout
        with redirect_stdout(sys.stderr):  # what libraries print is no answer
            answer(sys.argv[1:], sys.stdin, answers)
    else:
        show(lines())
