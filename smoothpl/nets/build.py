"""From configuration to a network."""

from collections.abc import Sequence
from inspect import isclass

import torch
from hydra.utils import get_object, instantiate
from omegaconf import DictConfig
from torch import nn

from smoothpl.errors import require
from smoothpl.nets.heads import Head
from smoothpl.nets.memory import check_parameters
from smoothpl.nets.several import SeveralHeads
from smoothpl.nets.with_heads import WithHeads


def build_network(net: DictConfig, with_pretrained: bool = True, dims: Sequence[int] = ()) -> nn.Module:
    """`with_pretrained=False`: without net.weights and net.init_from, where a checkpoint takes their place: their file
    may be gone. `dims`: the lengths of the vectors of each backbone, for a head."""
    made = get_object(net._target_)
    is_head = isclass(made) and issubclass(made, Head)
    require(
        is_head == bool(dims),
        f"net={net._target_}: "
        + (
            "it sees images, and a backbone gives features; use net=linear, mlp or cosine, or backbone=none."
            if dims
            else "it needs the features of a backbone; add backbone=efficientnet_lite0, or use another net."
        ),
    )
    if dims:
        heads: list[Head] = [instantiate(net, dim=dim) for dim in dims]
        return heads[0] if len(heads) == 1 else SeveralHeads(heads)
    check_parameters(net)
    without = {} if with_pretrained else {name: None for name in ("weights", "init_from") if name in net}
    # Channels last: the layout that convolutions are fastest in, on CPUs as on tensor cores.
    network: nn.Module = instantiate(net, **without).to(memory_format=torch.channels_last)
    return network


def with_extra_heads(
    network: nn.Module, extra_heads: DictConfig | None, num_classes: int, dims: Sequence[int] = ()
) -> nn.Module:
    """With the heads of a method, if it has some. `dims`: of an image, if they are known."""
    if not extra_heads:
        return network
    require(
        not isinstance(network, SeveralHeads),
        "a method with heads of its own needs one backbone, not several; use one, or another method.",
    )
    judged = next((str(name) for name, each in extra_heads.items() if each.get("judged")), None)
    makers = {str(name): instantiate(each.head, _partial_=True) for name, each in extra_heads.items()}
    return WithHeads(network, makers, num_classes, judged, dims)
