"""Output: what the network makes of the images of one view."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from torch import Tensor

NO_HEADS: Mapping[str, Tensor] = MappingProxyType({})


class Output(NamedTuple):
    """Of several backbones logits are (n, heads, C)."""

    logits: Tensor  # (n, C)
    features: Tensor | None = None  # (n, D), where the method has heads of its own
    heads: Mapping[str, Tensor] = NO_HEADS  # what these heads make of the features, by name
