"""Memory of a network, known before any of it is taken: its parameters, and what a step keeps for the gradient."""

import torch
from hydra.utils import instantiate
from omegaconf import DictConfig
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from smoothpl.errors import ConfigError
from smoothpl.io.memory import machine_memory, spelled

OWN = "smoothpl.nets."
BYTES = 4  # of a parameter
USUAL = 128
"""A network whose width, classes, ... are no larger fits into any machine."""


def sketch(net: DictConfig) -> nn.Module | None:
    """The network without its numbers. None if it cannot be had so, or is not our code: that may not be built twice."""
    if not str(net.get("_target_")).startswith(OWN):
        return None
    without = {name: None for name in ("weights", "init_from") if name in net}
    try:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            network: nn.Module = instantiate(net, **without)
    except Exception:  # whatever it is, the network itself will say it
        return None
    return network


def check_parameters(net: DictConfig) -> None:
    """Refuses a network that no memory could hold: Linux would give it, and end the process when it is written to."""
    memory = machine_memory()
    if memory is None or not any(isinstance(value, int) and value > USUAL for value in net.values()):
        return
    network = sketch(net)
    if network is None:
        return
    number = num_parameters(network)
    if number * BYTES > memory:
        knobs = " ".join(f"net.{name}={net[name]}" for name in ("name", "depth", "width", "num_classes") if name in net)
        raise ConfigError(
            f"{knobs or 'net'}: a network of {number:,} parameters takes {spelled(number * BYTES)}, and this machine "
            f"has {spelled(memory)} of memory; use a smaller network."
        )


def num_parameters(network: nn.Module) -> int:
    return sum(each.numel() for each in network.parameters())


def kept_per_image(network: nn.Module, channels: int, height: int, width: int) -> float:
    """Bytes of one image that a step keeps for the gradient, at least. The network is a sketch."""
    few, more = (kept(network, torch.empty(number, channels, height, width, device="meta")) for number in (2, 4))
    return (more - few) / 2


def kept(network: nn.Module, images: Tensor) -> int:
    own = {each.untyped_storage()._cdata for each in (*network.parameters(), *network.buffers())}
    found: dict[int, torch.UntypedStorage] = {}  # what is kept twice, as before and after an operation in place, is one

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        found.setdefault(storage._cdata, storage)
        return tensor

    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(note, lambda tensor: tensor):
        network(images).sum()
    return sum(storage.nbytes() for key, storage in found.items() if key not in own)
