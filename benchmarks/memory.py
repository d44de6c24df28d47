"""python -m benchmarks.memory: the largest memory of a run on CIFAR-10, beyond what cannot be avoided.

That is the bare step, the images, and a second network for the average. Each in a process of its own. Needs
SMOOTHPL_DATA. And how much a step takes, against what `smoothpl jobs` counts for it.
"""

import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import torch

from benchmarks.bare_step import bare_step
from benchmarks.line import Line, show
from benchmarks.peak import memory_now, peak_memory
from benchmarks.setting import data_folder
from benchmarks.step import CIFAR, COMMON
from smoothpl.config.compose import compose_checked
from smoothpl.data import cifar10
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries
from smoothpl.run.step_memory import made_up_batch, make_momentum, peak_of_step, prepare, step
from smoothpl.run.step_time import input_dims

STEPS = 3


def lines() -> Iterator[Line]:
    data_folder()
    whole, least = peak("run"), peak("bare")
    yield Line("peak memory of a run, WideResNet-28-2, 16 + 2 x 112", whole, least, "MB", "bare step, images, average")
    yield Line("the difference", whole - least, None, "MB", "", limit=200)
    counted = peak_of_step(compose_checked([*CIFAR, *COMMON]))
    yield Line("what a step adds to an empty process", peak("step"), counted and counted / 1e6, "MB", "counted")


def peak(what: str) -> int:
    command = [sys.executable, "-m", "benchmarks.memory", what]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def print_peak(what: str) -> None:
    """Megabytes of this process; both variants import the same."""
    torch.set_num_threads(1)
    quiet_libraries()
    config = compose_checked([*CIFAR, *COMMON, f"max_steps={STEPS}"])
    module = build_module(config)
    if what == "bare":
        kept = cifar10(data_folder()), deepcopy(module.network)
        step = bare_step(module.network, torch.randn(16 + 2 * 112, 3, 32, 32))
        for _ in range(STEPS):
            step()
        del kept
    else:
        build_trainer(config, Path()).fit(module, datamodule=build_data(config))
    sys.stdout.write(f"{peak_memory()}\n")


def print_growth() -> None:
    """Of a whole step on noise, its network and its images included, in what this process has had at most."""
    torch.set_num_threads(1)
    config = compose_checked([*CIFAR, *COMMON])
    take_once_what_libraries_need = torch.nn.Conv2d(3, 16, 3)(torch.zeros(2, 3, 8, 8)).sum()
    take_once_what_libraries_need.backward()
    before = memory_now()
    module = build_module(config)
    prepare(module, config)
    optimizer = module.make_optimizer(module.network)
    make_momentum(optimizer)
    batch = made_up_batch(config, input_dims(config, module.network))
    for each in (batch.labeled, batch.weak, batch.strong):
        assert each is not None
        each.normal_()
    for _ in range(STEPS):
        step(module, batch, optimizer, str(config.trainer.precision))
    sys.stdout.write(f"{peak_memory() - before}\n")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        show(lines())
    elif sys.argv[1] == "step":
        print_growth()
    else:
        print_peak(sys.argv[1])
