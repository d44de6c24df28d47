"""How long jobs would take, by a step that is tried here."""

import time

import torch
from omegaconf import DictConfig
from torch.nn.functional import cross_entropy

from smoothpl.run.build import build_data, build_module
from smoothpl.run.grid import Job
from smoothpl.run.memory import known_side

TRIED_IMAGES = 64
"""At most, for the time of a step; that of a larger one is in proportion."""


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
    module = build_module(config)
    of_step = config.batch_size * (1 + config.unlabeled_ratio * (1 + (config.views.learned == "strong")))
    tried = min(of_step, TRIED_IMAGES)
    images = torch.rand(tried, config.data.channels, *image_size(config))
    images = images.contiguous(memory_format=torch.channels_last)
    torch.set_num_threads(1)  # so that processor time is what it takes, however busy the machine is
    times = []
    for _ in range(3):
        start = time.process_time()
        loss = cross_entropy(module.network(images), torch.zeros(tried, dtype=torch.long))
        loss.backward()  # type: ignore[no-untyped-call]
        times.append(time.process_time() - start)
    parameters = sum(each.numel() for each in module.network.parameters())
    return min(times) * of_step / tried, 3 * 4 * parameters


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
    return f"{seconds:.0f} seconds"
