"""Ranks: the processes of a run on several devices, which must remember the same."""

from typing import Any

import torch
from torch import Tensor, distributed


def num_ranks() -> int:
    return distributed.get_world_size() if distributed.is_initialized() else 1


def of_all_ranks(part: Any) -> Any:
    """Joins the tensors of all ranks, also within named tuples: what one process with the whole batch would have."""
    if num_ranks() == 1:
        return part
    if isinstance(part, tuple):
        return type(part)(*(of_all_ranks(each) for each in part))
    if not isinstance(part, Tensor):
        return part
    parts = [torch.empty_like(part) for _ in range(num_ranks())]
    distributed.all_gather(parts, part.contiguous())
    return torch.cat(parts)


def own_share(joined: Tensor) -> Tensor:
    """The rows of this rank, of what `of_all_ranks` has joined."""
    if num_ranks() == 1:
        return joined
    return joined.chunk(num_ranks())[distributed.get_rank()]


def whole_batch(part: Tensor) -> Tensor:
    """The rows of all ranks, for a loss over the whole batch that every rank computes; gradients reach one's own rows.

    They are multiplied by the number of ranks, because afterwards the mean over all ranks is taken, where each has
    but a part of the sum.
    """
    if num_ranks() == 1:
        return part
    number, own = num_ranks(), distributed.get_rank()
    parts = list(of_all_ranks(part.detach()).chunk(number))
    parts[own] = number * part - (number - 1) * part.detach()
    return torch.cat(parts)


def share_mean(sums: Tensor) -> None:
    """Gives every rank the mean of all, in place: what one of them saves is then true of each."""
    if num_ranks() > 1:
        distributed.all_reduce(sums)
        sums /= num_ranks()
