"""How long a step takes, and a run: tried here, on noise."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy

import torch
from omegaconf import DictConfig
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from smoothpl.config.views import OF_LABELED, num_views
from smoothpl.nets.finetuning.whole import WholeNetwork
from smoothpl.nets.heads import Head
from smoothpl.nets.several import SeveralHeads
from smoothpl.run.build import build_data
from smoothpl.run.memory import known_side

TRIED_IMAGES, TRIED_PIXELS = 64, 64 * 96 * 96
"""At most, for the time of a step; that of a larger one is in proportion."""
LONGEST = 1.0
"""Seconds: after so many, nothing is tried once more."""
BESIDE_NETWORK = 0.004
"""Seconds of every step for the loop, the batch and the average (docs/performance.md): most of it, on features."""


def forecast(config: DictConfig, network: nn.Module, first_step: int = 0) -> str:
    """A line for people, before a run."""
    num_steps = config.max_steps - first_step
    seconds = seconds_of_step(config, network) * num_steps
    number = f"{num_steps:,} steps of {images_of_step(config):,}"
    if isinstance(network, Head | SeveralHeads):
        return f"{number} vectors, each {network.dim:,} features: about {spell(seconds)} on this machine."
    pixels = " x ".join(map(str, image_size(config)))
    return f"{number} images, each {pixels} pixels: about {spell(seconds)} on this machine."


def seconds_of_step(config: DictConfig, network: nn.Module) -> float:
    """As long as it takes now, with all that the machine does besides. Neither the network nor any random number of the
    run is touched."""
    with torch.random.fork_rng(devices=[]):
        return time_step(config, deepcopy(network), time.monotonic) + BESIDE_NETWORK


def time_step(config: DictConfig, network: nn.Module, clock: Callable[[], float]) -> float:
    """Forward and backward on noise, the shortest of three; views, averages and evaluations are not counted."""
    images = noise(config, network, images_of_step(config))
    tried = len(images)
    times: list[float] = []
    while len(times) < 3 and sum(times) < LONGEST:
        start = clock()
        with as_computed(config):
            loss = cross_entropy(network(images), torch.zeros(tried, dtype=torch.long))
        loss.backward()  # type: ignore[no-untyped-call]
        times.append(clock() - start)
    return min(times) * images_learned(config) / tried


def as_computed(config: DictConfig) -> AbstractContextManager[object]:
    """The precision of the run, as Lightning has it on a CPU."""
    halves = str(config.trainer.precision) in ("bf16-mixed", "bf16")
    return torch.autocast("cpu", torch.bfloat16) if halves else nullcontext()


def noise(config: DictConfig, network: nn.Module, of_step: int) -> Tensor:
    """Images for a network, no more than are needed to tell; for a head the vectors of a whole step."""
    dims = input_dims(config, network)
    if len(dims) == 1:
        return torch.rand(of_step, *dims)
    tried = max(1, min(of_step, TRIED_IMAGES, TRIED_PIXELS // (dims[1] * dims[2])))
    return torch.rand(tried, *dims).contiguous(memory_format=torch.channels_last)


def input_dims(config: DictConfig, network: nn.Module) -> tuple[int, ...]:
    """Of one input of the network: channels, height and width, or the features of a head."""
    if isinstance(network, Head | SeveralHeads):
        return (network.dim,)
    if isinstance(network, WholeNetwork):
        return 3, network.came_as.size, network.came_as.size
    return config.data.channels, *image_size(config)


def images_of_step(config: DictConfig) -> int:
    views = num_views(config.learned_view, config.views_wanted)
    labeled = 1 + sum(name in config.views_wanted for name in OF_LABELED)
    return int(config.batch_size * (labeled + config.unlabeled_ratio * views))


def images_learned(config: DictConfig) -> float:
    """Without a gradient an image takes a third of the time: the weak views of forward=split."""
    alone = config.batch_size * config.unlabeled_ratio if config.forward == "split" else 0
    return images_of_step(config) - alone * 2 / 3


def image_size(config: DictConfig) -> tuple[int, int]:
    """Height and width of what the network sees; a source that does not say is opened."""
    side = known_side(config)
    if side is not None:
        return side, side
    data = build_data(config)
    data.setup("fit")
    return data.image_size


def spell(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 2):.0f} seconds"
