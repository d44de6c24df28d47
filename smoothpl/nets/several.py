"""Several backbones, a head on each: they judge together, and what they believe together teaches each of them."""

from collections.abc import Sequence
from typing import TypeVar, cast

import torch
from torch import Tensor, nn

from smoothpl.nets.heads import Head


class SeveralHeads(nn.Module):
    """Takes the features of all backbones side by side."""

    def __init__(self, heads: Sequence[Head]) -> None:
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.dims = [head.dim for head in heads]
        self.dim = sum(self.dims)

    def apart(self, vectors: Tensor) -> Tensor:
        """vectors (B, D1 + D2 + ...) -> the logits of each head (B, heads, C), for losses."""
        parts = torch.split(vectors, self.dims, dim=1)
        return torch.stack([head(part) for head, part in zip(self.heads, parts, strict=True)], dim=1)

    def forward(self, vectors: Tensor) -> Tensor:
        """-> (B, C): logarithms of the mean of all heads' probabilities."""
        return mixed(self.apart(vectors))

    def confidences_of(self, logits: Tensor) -> Tensor:
        """logits (B, heads, C) -> (B, C): the same on the scale of confidences, each head with its temperature."""
        each = [head.confidences_of(own) for head, own in zip(self.heads, logits.unbind(dim=1), strict=True)]  # type: ignore[operator]
        return mixed(torch.stack(each, dim=1))


def mixed(logits: Tensor) -> Tensor:
    """(B, heads, C) -> (B, C): a softmax of it is the mean of the softmaxes."""
    return logits.float().log_softmax(dim=2).logsumexp(dim=1) - torch.tensor(float(logits.shape[1])).log()


def heads_of(network: nn.Module) -> list[Head]:
    """The heads on frozen features that a network consists of; none, if it sees images."""
    if isinstance(network, Head):
        return [network]
    return [head for head in network.heads if isinstance(head, Head)] if isinstance(network, SeveralHeads) else []


def each_head(logits: Tensor) -> Tensor:
    """(B, heads, C) -> (B heads, C): a loss over it is the mean of the heads' losses. (B, C) stays as it is."""
    return logits.flatten(0, 1) if logits.ndim == 3 else logits


Values = TypeVar("Values", bound=Tensor | None)


def for_each_head(values: Values, logits: Tensor) -> Values:
    """Repeats what belongs to images, (B, ...), as often as `each_head` repeats them."""
    if values is None or logits.ndim < 3:
        return values
    return cast(Values, values.repeat_interleave(logits.shape[1], dim=0))


def accuracy(logits: Tensor, label: Tensor) -> Tensor:
    """logits (B, ...), label (B,) -> the share that is right, over all heads."""
    return (each_head(logits).detach().argmax(dim=1) == for_each_head(label, logits)).float().mean()
