"""python -m benchmarks.one_core: a whole step against the usual loop on one core, exact and as trainer=fast has it.

CPU time, by which both make their views on the same core, too. Lines in bfloat16 are left out on a processor that has
no instructions for it. Needs SMOOTHPL_DATA.
"""

import time
from collections.abc import Iterator

import torch

from benchmarks.line import Line, show
from benchmarks.plain_loop import PlainLoop
from benchmarks.setting import data_folder
from benchmarks.step import TakingTurns, take_turns
from smoothpl.run.bfloat16 import may_have_it

SMALL = 4
"""Labeled images of a step."""
BFLOAT16 = "trainer.precision=bf16-mixed"
AT_LEAST: dict[str, float] = {
    "": 1.1,
    BFLOAT16: 2.0,
    f"{BFLOAT16} forward=split": 2.5,
}
"""Knobs, and how many times as fast as the usual loop."""


def lines() -> Iterator[Line]:
    data_folder()
    loop = PlainLoop(SMALL, num_workers=0)
    for words, at_least in AT_LEAST.items():
        if BFLOAT16 in words and not may_have_it():
            continue
        whole, usual = against_loop(loop, *words.split())
        what = f"a whole step, WideResNet-28-2, {SMALL} + 2 x {7 * SMALL} {words}".strip() + ", one core"
        yield Line(what, 1e3 * whole, 1e3 * usual, "ms", "the usual loop", at_least=at_least)


def against_loop(loop: PlainLoop, *knobs: str) -> tuple[float, float]:
    """CPU seconds."""
    torch.set_num_threads(1)
    turns = TakingTurns(lambda *_: loop.step, time.process_time, at_least=3)
    return take_turns(turns, "benchmark=cifar10_40", f"batch_size={SMALL}", *knobs)


if __name__ == "__main__":
    show(lines())
