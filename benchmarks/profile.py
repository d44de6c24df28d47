"""python -m benchmarks.profile [knob=value ...]: where the time of a step goes, here and in the usual loop.

torch's profiler on one core, WideResNet-28-2 on CIFAR-10; both steps in one run. Needs SMOOTHPL_DATA.
"""

import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from lightning import Callback, LightningModule, Trainer
from rich.console import Console
from torch.profiler import profile

from benchmarks.plain_loop import PlainLoop
from benchmarks.setting import data_folder
from benchmarks.step import COMMON, SMALL
from smoothpl.config.compose import compose_checked
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries

STEPS, WARM = 5, 2
KINDS = {
    "convolutions, backward": ("convolution_backward",),
    "convolutions, forward": ("convolution", "mkldnn"),
    "compiled parts": ("CompiledFx", "Torch-Compiled", "cpp_fused", "inductor"),
    "batch norm": ("batch_norm",),
    "activations": ("leaky_relu",),
    "SGD and the average": ("_foreach", "Optimizer.step", "lerp"),
}
REST = "all else: views, losses, Python"


class Timer:
    """Makes warm steps, then counts the seconds of each kind in the others."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.steps = 0

    def of(self, make_steps: Callable[[Callable[[], None]], None]) -> defaultdict[str, float]:
        """`make_steps` is told what to call after every step."""
        make_steps(self.after_step)
        return self.seconds

    def after_step(self) -> None:
        self.steps += 1
        if self.steps == WARM:
            self.profiler = profile()
            self.profiler.start()
            self.began = time.process_time()
        if self.steps == WARM + STEPS:
            whole = time.process_time() - self.began
            self.profiler.stop()
            for event in self.profiler.key_averages():
                self.seconds[kind_of(event.key)] += event.self_cpu_time_total / 1e6 / STEPS
            self.seconds[REST] = whole / STEPS - sum(self.seconds[kind] for kind in KINDS)


def kind_of(operation: str) -> str:
    return next((kind for kind, words in KINDS.items() if any(word in operation for word in words)), REST)


class AfterStep(Callback):
    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self.tell()


def whole_steps(knobs: Sequence[str], tell: Callable[[], None]) -> None:
    words = [each for each in COMMON if not each.startswith("max_steps=")]
    config = compose_checked(
        ["benchmark=cifar10_40", f"batch_size={SMALL}", *words, f"max_steps={WARM + STEPS}", *knobs]
    )
    trainer = build_trainer(config, Path(), last=[AfterStep(tell)])
    trainer.fit(build_module(config), datamodule=build_data(config))


def usual_steps(tell: Callable[[], None]) -> None:
    loop = PlainLoop(SMALL, num_workers=0)
    for _ in range(WARM + STEPS):
        loop.step()
        tell()


def main(knobs: Sequence[str]) -> None:
    data_folder()
    os.environ.setdefault("KINETO_LOG_LEVEL", "5")  # the profiler's own messages
    torch.set_num_threads(1)
    quiet_libraries()
    usual = Timer().of(usual_steps)
    ours = Timer().of(lambda tell: whole_steps(knobs, tell))
    lines = ["| ms of one core | the usual loop | a step here |", "| --- | ---: | ---: |"]
    for kind in (*KINDS, REST):
        lines.append(f"| {kind} | {1e3 * usual[kind]:.0f} | {1e3 * ours[kind]:.0f} |")
    lines.append(f"| together | {1e3 * sum(usual.values()):.0f} | {1e3 * sum(ours.values()):.0f} |")
    Console().print("\n".join(lines), highlight=False, markup=False)


if __name__ == "__main__":
    main(sys.argv[1:])
