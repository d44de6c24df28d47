"""What a memory of every image writes: of an image that comes twice in a step, the last time counts. How it counts."""

from typing import Any

import torch
from torch import Tensor, nn

PARTS = 2**24
"""Of an image, where images count softly: whole numbers add up alike in any order, on any device."""


def last_times(image: Tensor) -> Tensor:
    """image (U,) -> (U,) where in the step each of them comes for the last time.

    All occurrences then write the same, so that it does not matter in which order a device writes them.
    """
    order = image.argsort(stable=True)
    ordered = image[order]
    last = torch.searchsorted(ordered, ordered, right=True) - 1
    return torch.empty_like(order).index_copy_(0, order, order[last])


def in_whole_numbers(memory: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    """Checkpoints of earlier versions count images in double precision, and not in the memory's unit."""
    count = state.get(f"{prefix}count")
    if count is not None and count.is_floating_point():
        state[f"{prefix}count"] = (count * memory.unit).round().long()
