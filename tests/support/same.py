"""Whether two batches are the same to the bit."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


def same(one: Any, other: Any) -> bool:
    """Tensors, or what tuples and dictionaries hold of them."""
    if isinstance(one, Tensor):
        return torch.equal(one, other)
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return one is other is None or all(same(a, b) for a, b in zip(one, other, strict=True))
