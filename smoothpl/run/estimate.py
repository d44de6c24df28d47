"""How long the jobs of a sweep would take, by a step that is tried here."""

import time

import torch
from omegaconf import DictConfig

from smoothpl.config.stages import of_network
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
        config = of_network(job.config)  # the head of a finetuned run takes seconds
        parts = (config.net, config.backbone, config.finetune, config.views.learned)
        key = str((*parts, config.batch_size, config.unlabeled_ratio, config.forward, config.trainer.precision))
        if key not in known:
            known[key] = try_step(config)
        seconds += known[key][0] * config.max_steps
        size += known[key][1]
    return [
        f"{len(left)} of {len(jobs)} are left: about {spell(seconds)} one after the other on one core of this machine, "
        f"evaluations not counted, and {size / 1e6:,.0f} MB on disk for their last checkpoints."
    ]


def try_step(config: DictConfig) -> tuple[float, int]:
    """Seconds of a step, by forward and backward on noise; bytes of a checkpoint: network, average, momentum."""
    network = build_module(config).network
    torch.set_num_threads(1)  # so that processor time is what it takes, however busy the machine is
    kept = network.state_dict()  # not the frozen weights of a backbone
    parameters = sum(each.numel() for name, each in network.named_parameters() if name in kept)
    return time_step(config, network, time.process_time), 3 * 4 * parameters
