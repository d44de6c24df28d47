"""The last map of a convolutional network, before it is averaged over its places: what some heads look at (CRMatch)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class GlobalMean(nn.Module):
    """(n, D, height, width) -> (n, D): a part of its own, so that the map before it can be found."""

    def forward(self, images: Tensor) -> Tensor:
        return images.mean(dim=(2, 3))


def pooling(network: nn.Module) -> nn.Module | None:
    """What averages the last map; None where there is no such map, as in transformers and heads on features."""
    found = [part for part in network.modules() if isinstance(part, GlobalMean | nn.AdaptiveAvgPool2d)]
    return found[-1] if found else None


@contextmanager
def overheard(layer: nn.Module | None) -> Iterator[list[Tensor]]:
    """What a layer is given, row by row flattened; nothing where there is no layer."""
    seen: list[Tensor] = []
    if layer is None:
        yield seen
        return
    hook = layer.register_forward_pre_hook(lambda _, given: seen.append(given[0].flatten(1)))
    try:
        yield seen
    finally:
        hook.remove()


def length_of_map(network: nn.Module, dims: Sequence[int]) -> int | None:
    """dims: of one image."""
    layer, training = pooling(network), network.training
    if layer is None:
        return None
    with torch.no_grad(), overheard(layer) as seen:
        network.eval()(torch.zeros(1, *dims))
    network.train(training)
    return seen[-1].shape[1]
