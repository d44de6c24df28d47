"""From configuration to a network that is finetuned."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Protocol

from omegaconf import DictConfig
from torch import nn

from smoothpl.errors import ConfigError, require
from smoothpl.nets.finetuning.blocks import depth_of, depths, is_empty
from smoothpl.nets.finetuning.lora import INSIDE, adapted
from smoothpl.nets.finetuning.whole import Origin, WholeNetwork
from smoothpl.nets.heads import Head


class Trained(Protocol):
    """A backbone as it came (backbones/encoder.py)."""

    network: nn.Module
    name: str
    digest: str
    size: int


def whole_network(encoder: Trained, head: Head, finetune: DictConfig) -> WholeNetwork:
    name = encoder.name
    if is_empty(getattr(encoder, "network", nn.Identity())):
        raise ConfigError(
            f"finetune={finetune.mode}: backbone {name} has no weights that could learn (a file of ONNX, or vectors "
            "made elsewhere); use a network of timm or torchvision, or finetune=none."
        )
    own = deepcopy(encoder.network)  # the other one is shared by all runs of this process, and stays frozen
    known = depths(own)
    num_blocks = max(known.values())
    if finetune.mode == "lora":
        own = adapted(own, finetune.rank, finetune.alpha, name)
    trained = {path: depth_of(path.removeprefix(INSIDE), known) for path in chosen(own, finetune, name)}
    if finetune.mode == "last":
        trained = {path: depth for path, depth in trained.items() if depth > num_blocks - finetune.blocks}
        require(
            finetune.blocks <= num_blocks,
            f"finetune.blocks={finetune.blocks}: {name} has {num_blocks} blocks; use fewer, or finetune=all.",
        )
    return WholeNetwork(own, head, trained, num_blocks, Origin(name, encoder.digest, encoder.size))


def chosen(network: nn.Module, finetune: DictConfig, name: str) -> list[str]:
    """Names of the parameters that learn."""
    everything = [path for path, _ in network.named_parameters()]
    if finetune.mode in ("last", "all"):
        return everything
    if finetune.mode == "lora":
        return [path for path in everything if ".lora_" in path]
    found = [*scales_and_shifts(network)]
    if not found:
        raise ConfigError(
            f"finetune=norms trains normalisation layers, and {name} has none that learn; use finetune=last, lora or "
            "all."
        )
    return found


def scales_and_shifts(network: nn.Module) -> Iterable[str]:
    """Of every normalisation layer; those of timm are known by their names."""
    for path, module in network.named_modules():
        if "norm" in type(module).__name__.lower():
            for name, _ in module.named_parameters(recurse=False):
                yield f"{path}.{name}" if path else name
