"""bfloat16 on this processor: what it says of itself, and what a network gains by it, tried in a child process."""

import platform
import re
import time
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from omegaconf import DictConfig
from torch import nn

from smoothpl.config.checks.trainer import EXACT, HALF
from smoothpl.io.cache import recall
from smoothpl.run.step_time import BESIDE_NETWORK, images_of_step, noise, time_step
from smoothpl.run.trial import tried

INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "bf16")
"""The last one is what it is called on ARM."""
CPUS = Path("/proc/cpuinfo")
TURNS = 2
PATIENCE = 300
"""Seconds for a few steps of the largest networks."""


class Times(NamedTuple):
    """CPU seconds of the network in a step."""

    exact: float
    half: float

    @property
    def gain(self) -> float:
        """How many times as fast a whole step is."""
        return (self.exact + BESIDE_NETWORK) / (self.half + BESIDE_NETWORK)


def flags() -> list[str] | None:
    """What the processor says that it can do; None where there is no such list (it is Linux that has one)."""
    try:
        found = re.search(r"^(?:flags|Features)\s*:(.*)$", CPUS.read_text(), re.MULTILINE)
    except OSError:
        return None
    return None if found is None else found[1].split()


def may_have_it() -> bool:
    """Whether it is worth trying. A processor without instructions for bfloat16 computes in it, too: slowly."""
    known = flags()
    return known is None or any(each in known for each in INSTRUCTIONS)


def compare(config: DictConfig, network: nn.Module) -> Times:
    """Both precisions, tried here on noise; remembered, so that what is picked once is picked again. TrialError if the
    processor or the network cannot do it."""
    machine = (platform.machine(), *(flags() or [platform.processor()]), torch.__version__)
    seen = f"{network}{list(noise(config, network, images_of_step(config)).shape)}"
    both = recall("bfloat16", [], lambda: tried(partial(measure, config, network), PATIENCE), *machine, seen)
    return Times(*both)


def measure(config: DictConfig, network: nn.Module) -> list[float]:
    """They take turns, and the fastest turn of each counts: others can only slow a machine down."""
    kinds = [deepcopy(config), deepcopy(config)]
    for kind, precision in zip(kinds, (EXACT, HALF), strict=True):
        kind.trainer.precision = precision
    turns = [[time_step(each, network, time.process_time) for each in kinds] for _ in range(TURNS)]
    return [min(times) for times in zip(*turns, strict=True)]
