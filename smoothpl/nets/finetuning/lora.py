"""LoRA: a small product of two matrices beside a layer learns in its place, and is added to its weights in the end."""

import warnings
from collections.abc import Callable
from typing import Any

from torch import nn

from smoothpl.errors import ConfigError

INSIDE = "model."
"""Where peft puts a network: before the names of its layers."""


def adapted(network: nn.Module, rank: int, alpha: float, what: str) -> nn.Module:
    """The network with adapters that change nothing yet. `what`: the backbone, for messages. Rank 0: as it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the libraries that peft imports
            from peft import LoraConfig, LoraModel
    except ImportError as error:
        raise ConfigError("finetune=lora is not installed: pip install 'smoothpl[finetune]'.") from error
    layers = adaptable(network)
    if not layers:
        raise ConfigError(
            f"finetune=lora adapts linear layers and convolutions of 1 x 1, and {what} has none; use finetune=norms, "
            "last or all."
        )
    if rank == 0:
        return network
    settings: dict[str, Any] = {"r": rank, "lora_alpha": alpha, "target_modules": layers}
    with_adapters: nn.Module = LoraModel(network, LoraConfig(**settings), "default")
    return with_adapters


def adaptable(network: nn.Module) -> list[str]:
    """Paths of the linear layers, those of attention among them, and of convolutions that mix channels only.

    Not inside torch's own attention: its layers are never called, and what peft does instead, to add the product before
    every call and to take it off again, would wear the frozen weights away.
    """
    within = tuple(f"{path}." for path, each in network.named_modules() if isinstance(each, nn.MultiheadAttention))
    return [path for path, each in network.named_modules() if mixes_channels(each) and not path.startswith(within)]


def mixes_channels(layer: nn.Module) -> bool:
    if isinstance(layer, nn.Conv2d):
        return layer.kernel_size == (1, 1) and layer.groups == 1
    return isinstance(layer, nn.Linear)


def merged(network: nn.Module) -> nn.Module:
    """The network without adapters: what they have learned is in its weights."""
    merge: Callable[[], nn.Module] | None = getattr(network, "merge_and_unload", None)
    return network if merge is None else merge()
