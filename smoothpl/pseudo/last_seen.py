"""What a memory of every image writes: of an image that comes twice in a step, the last time counts."""

import torch
from torch import Tensor


def last_times(image: Tensor) -> Tensor:
    """image (U,) -> (U,) where in the step each of them comes for the last time.

    All occurrences then write the same, so that it does not matter in which order a device writes them.
    """
    order = image.argsort(stable=True)
    ordered = image[order]
    last = torch.searchsorted(ordered, ordered, right=True) - 1
    return torch.empty_like(order).index_copy_(0, order, order[last])
