"""Whether a step fits into memory, estimated before it is tried: at the least, so that nothing that fits is refused."""

import torch
from hydra.utils import get_method
from omegaconf import DictConfig

from smoothpl.config.views import num_views
from smoothpl.errors import ConfigError, require
from smoothpl.io.memory import machine_memory, spelled
from smoothpl.nets.memory import BYTES, kept_per_image, num_parameters, sketch

COPIES = 4
"""Of the parameters: the network, its average, the gradient and the momentum."""
MOST_KEPT = 5_000
"""No network of ours keeps more for the gradient than so many times its images."""
OF_COUNT = 8  # bytes, in the confusion matrix
SINGLE = ("32", "32-true", "64", "64-true")


def check_step(config: DictConfig, remembers: bool) -> None:
    """`remembers`: the method has a memory, which cannot be computed in parts."""
    memory, side = memory_of_device(config), known_side(config)
    if memory is None or side is None or config.compile:  # a compiled step computes again what it does not keep
        return
    num_images = images_at_once(config)
    if num_images * config.data.channels * side**2 * BYTES * MOST_KEPT < memory:
        return
    network = sketch(config.net)
    if network is None:
        return
    halved = 1 if str(config.trainer.precision) in SINGLE else 2
    for_images = num_images * kept_per_image(network, config.data.channels, side, side) / halved
    needed = for_images + num_parameters(network) * BYTES * COPIES / halved
    if needed > memory:
        raise ConfigError(
            f"batch_size={config.batch_size} unlabeled_ratio={config.unlabeled_ratio}: a step of {num_images:,} images "
            f"would take at least {spelled(needed)} of memory, and there are {spelled(memory)}; "
            f"{way_out(config, remembers, for_images / memory)}."
        )


def way_out(config: DictConfig, remembers: bool, share: float) -> str:
    """Half of the memory is left for what was not counted."""
    parts = config.accumulate
    fitting = (each for each in range(parts, config.batch_size + 1) if config.batch_size % each == 0)
    enough = None if remembers else next((each for each in fitting if share * parts / each <= 0.5), None)
    smaller = "use a smaller batch_size, network or image"
    return smaller if enough is None else f"accumulate={enough} computes it in {enough} parts, or {smaller}"


def check_classes(config: DictConfig) -> None:
    """A confusion matrix has the square of their number."""
    number, memory = config.data.num_classes, machine_memory()
    require(
        type(number) is int and number > 0,
        f"data.num_classes={number} must be a whole number from 1 up; it is how many classes the data have.",
    )
    require(
        memory is None or number**2 * OF_COUNT < memory,
        f"data.num_classes={number}: a confusion matrix of so many classes does not fit into memory; say how many "
        "classes the data have.",
    )


def images_at_once(config: DictConfig) -> int:
    """Those that a part of a step computes the gradient of, on one device."""
    views = num_views(config.learned_view, config.views_wanted) - (config.forward == "split")
    return int(config.batch_size * (1 + config.unlabeled_ratio * views) // parts_of_step(config))


def parts_of_step(config: DictConfig) -> int:
    """One device has one of them in its memory at once."""
    devices = config.trainer.devices if isinstance(config.trainer.devices, int) else torch.accelerator.device_count()
    return int(config.accumulate * max(1, devices) * int(config.trainer.get("num_nodes", 1)))


def memory_of_device(config: DictConfig) -> int | None:
    if config.trainer.accelerator == "cpu" or not torch.accelerator.is_available():
        return machine_memory()
    return torch.cuda.get_device_properties(0).total_memory if torch.cuda.is_available() else None


def known_side(config: DictConfig) -> int | None:
    """Pixels of a side of what the network sees, if that is known before the data are opened."""
    frame = config.views.get("frame")
    side = frame.size if frame is not None else config.data.get("size")
    if side is None:
        side = getattr(get_method(config.data.source._target_), "image_size", None)
    return None if side is None else int(side)
