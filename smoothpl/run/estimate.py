"""How long the jobs of a sweep would take, by a step that is tried here."""

import time

import torch
from omegaconf import DictConfig

from smoothpl.run.build import build_module
from smoothpl.run.grid import Job
from smoothpl.run.step_time import spell, time_step


def estimate(jobs: list[Job]) -> list[str]:
    left = [job for job in jobs if job.status != "finished"]
    if not left:
        return ["All of them are finished."]
    known: dict[str, tuple[float, int]] = {}
    seconds, size = 0.0, 0
    for job in left:
        key = str((job.config.net, job.config.batch_size, job.config.unlabeled_ratio, job.config.views.learned))
        if key not in known:
            known[key] = try_step(job.config)
        seconds += known[key][0] * job.config.max_steps
        size += known[key][1]
    return [
        f"{len(left)} of {len(jobs)} are left: about {spell(seconds)} one after the other on one core of this machine, "
        f"evaluations not counted, and {size / 1e6:,.0f} MB on disk for their last checkpoints."
    ]


def try_step(config: DictConfig) -> tuple[float, int]:
    """Seconds of a step, by forward and backward on noise; bytes of a checkpoint: network, average, momentum."""
    network = build_module(config).network
    torch.set_num_threads(1)  # so that processor time is what it takes, however busy the machine is
    parameters = sum(each.numel() for each in network.parameters())
    return time_step(config, network, time.process_time), 3 * 4 * parameters
