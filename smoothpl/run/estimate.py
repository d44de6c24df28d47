"""How long the jobs of a sweep would take, by a step that is tried here, and the memory of a step, by counting."""

import time

import torch
from omegaconf import DictConfig

from smoothpl.config.stages import of_network
from smoothpl.io.memory import spelled
from smoothpl.run.build import build_module
from smoothpl.run.grid import Job
from smoothpl.run.memory import images_at_once
from smoothpl.run.step_memory import kind_of_step, peak_of_step
from smoothpl.run.step_time import spell, time_step

MOST_COUNTED = 2
"""Kinds of steps whose memory is counted, each of which takes about a second: those of the most images."""


def estimate(jobs: list[Job]) -> list[str]:
    left = [job for job in jobs if job.status != "finished"]
    if not left:
        return ["All of them are finished."]
    known: dict[str, tuple[float, int]] = {}
    seconds, size = 0.0, 0
    for job in left:
        config = of_network(job.config)  # the head of a finetuned run takes seconds
        parts = (config.net, config.backbone, config.finetune, config.views.learned)
        key = str((*parts, config.batch_size, config.unlabeled_ratio, config.forward, config.trainer.precision))
        if key not in known:
            known[key] = try_step(config)
        seconds += known[key][0] * config.max_steps
        size += known[key][1]
    return [
        f"{len(left)} of {len(jobs)} are left: about {spell(seconds)} one after the other on one core of this machine, "
        f"evaluations not counted, and {size / 1e6:,.0f} MB on disk for their last checkpoints.",
        *memory_of(left),
    ]


def memory_of(jobs: list[Job]) -> list[str]:
    """Of the largest steps: one of each kind, however many jobs have it."""
    configs = [of_network(job.config) for job in jobs]
    kinds = {kind: config for config in configs if (kind := kind_of_step(config)) is not None}
    largest = sorted(kinds.values(), key=images_at_once)[-MOST_COUNTED:]
    found = [(peak, config) for config in largest if (peak := peak_of_step(config)) is not None]
    if not found:
        return []
    peak, config = max(found, key=lambda each: each[0])
    which = f", the larger of {len(found)} counted" if len(found) > 1 else ""
    which += f" of {len(kinds)} kinds of steps" if len(kinds) > len(found) else ""
    step = f"method={config.method} with trainer.precision={config.trainer.precision}"
    return [
        f"A step of {step} has {spelled(peak)} in memory at its peak{which}; counted, not "
        "measured: the libraries, and what their kernels work in, come on top."
    ]


def try_step(config: DictConfig) -> tuple[float, int]:
    """Seconds of a step, by forward and backward on noise; bytes of a checkpoint: network, average, momentum."""
    network = build_module(config).network
    torch.set_num_threads(1)  # so that processor time is what it takes, however busy the machine is
    kept = network.state_dict()  # not the frozen weights of a backbone
    parameters = sum(each.numel() for name, each in network.named_parameters() if name in kept)
    return time_step(config, network, time.process_time), 3 * 4 * parameters
