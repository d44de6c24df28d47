"""From configuration to a network."""

import torch
from hydra.utils import instantiate
from omegaconf import DictConfig
from torch import nn

from smoothpl.nets.memory import check_parameters


def build_network(net: DictConfig, with_pretrained: bool = True) -> nn.Module:
    """`with_pretrained=False`: without net.weights and net.init_from, where a checkpoint takes their place: their file
    may be gone."""
    check_parameters(net)
    without = {} if with_pretrained else {name: None for name in ("weights", "init_from") if name in net}
    # Channels last: the layout that convolutions are fastest in, on CPUs as on tensor cores.
    network: nn.Module = instantiate(net, **without).to(memory_format=torch.channels_last)
    return network
