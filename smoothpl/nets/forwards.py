"""Forwards: how the views of a step go through the network, and which of them BatchNorm sees together."""

from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from smoothpl.nets.finetuning.whole import WholeNetwork
from smoothpl.nets.heads import Head
from smoothpl.nets.output import Output
from smoothpl.nets.several import SeveralHeads
from smoothpl.nets.statistics import resting_statistics
from smoothpl.nets.with_heads import WithHeads

Forward = Literal["joint", "split", "apart"]
"""All views in one batch, as in the paper's codebase; the weak one by itself, without gradient; or each by itself."""
Views = Mapping[str, Tensor]


def look(network: nn.Module, views: Views, forward: Forward) -> dict[str, Output]:
    """What the network makes of every view. The labeled images come first."""
    if forward == "joint":
        return together(network, views)
    if forward == "apart":
        return apart(network, views)
    with torch.no_grad():
        weak = together(network, {"weak": views["weak"]})
    return weak | together(network, {name: view for name, view in views.items() if name != "weak"})


def watch(network: nn.Module, views: Views, forward: Forward) -> dict[str, Output]:
    """The same without a gradient, and without a trace in the running statistics."""
    with torch.no_grad(), resting_statistics(network):
        return apart(network, views) if forward == "apart" else together(network, views)


def apart(network: nn.Module, views: Views) -> dict[str, Output]:
    """Only the first of them, the labeled images, move the running statistics."""
    first, *others = views
    outputs = together(network, {first: views[first]})
    with resting_statistics(network):
        for name in others:
            outputs |= together(network, {name: views[name]})
    return outputs


def together(network: nn.Module, views: Views) -> dict[str, Output]:
    """In one batch."""
    images, sizes = joined([*views.values()]), [len(view) for view in views.values()]
    if not isinstance(network, WithHeads):
        parts = torch.split(logits_of(network, images), sizes)
        return {name: Output(own) for name, own in zip(views, parts, strict=True)}
    seen = network.look(images)
    assert seen.features is not None
    logits, features = (torch.split(each, sizes) for each in (seen.logits, seen.features))
    heads = {name: torch.split(each, sizes) for name, each in seen.heads.items()}
    return {
        name: Output(logits[number], features[number], {head: each[number] for head, each in heads.items()})
        for number, name in enumerate(views)
    }


def joined(views: Sequence[Tensor]) -> Tensor:
    """One batch. Mixed precision on CPUs refuses to join what a bank of features has: vectors of float16."""
    if torch.is_autocast_enabled("cpu"):
        views = [view.float() if view.dtype == torch.float16 else view for view in views]
    return torch.cat([*views])


def logits_of(network: nn.Module, images: Tensor) -> Tensor:
    """For losses: of several backbones those of each head."""
    logits: Tensor = network.apart(images) if isinstance(network, SeveralHeads) else network(images)
    return logits


def confidences_of(network: nn.Module, logits: Tensor) -> Tensor:
    """Logits on the scale of confidences: a head on frozen features has a temperature for them."""
    return network.confidences_of(logits) if isinstance(network, Head | SeveralHeads | WholeNetwork) else logits
