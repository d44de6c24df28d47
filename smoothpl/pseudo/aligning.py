"""Aligning: rows of probabilities, and the nearest ones in which classes have the sizes they should have."""

from collections.abc import Sequence

import torch
from torch import Tensor

from smoothpl.errors import ConfigError

SMALL = 1e-6
NEWTON_STEPS = 10


def entropy(probabilities: Tensor) -> Tensor:
    """(N, C) -> (N, 1), positive also for one-hot rows."""
    return -(probabilities * (probabilities + SMALL).log()).sum(dim=1, keepdim=True).clamp(max=-SMALL)


def tilted(probabilities: Tensor, duals: Tensor) -> Tensor:
    """x_ic ~ p_ic exp(-nu_c H_i): the duals nu (C,) move those that are unsure, H being the entropy of a row."""
    return (probabilities.clamp(min=1e-30).log() - duals * entropy(probabilities)).softmax(dim=1)


def sure_of_class(probabilities: Tensor, sizes: Tensor, num_kept: Sequence[int]) -> Tensor:
    """(N, C) -> (N, C), rows summing to 1: the `num_kept` largest entries of every class, scaled to its size."""
    rank = probabilities.argsort(dim=0, descending=True, stable=True).argsort(dim=0)
    is_kept = torch.stack([rank[:, c] < number for c, number in enumerate(num_kept)], dim=1)
    kept = probabilities * is_kept
    scaled = kept * (sizes + SMALL) / (kept.sum(dim=0) + SMALL) + SMALL
    return scaled / scaled.sum(dim=1, keepdim=True)


def fit_classes(probabilities: Tensor, sizes: Tensor, rounds: int) -> Tensor:
    """(N, C) -> (N, C): minimises sum_i KL(x_i || p_i) / H_i, rows summing to 1 and columns to `sizes` (C,).

    In every round rows are scaled to 1, then each column finds its dual, by Newton's method on the logarithm of its
    sum, which is convex and nearly a line. The number of steps is fixed: nobody waits for the device.
    """
    spread, logarithm = entropy(probabilities), probabilities.log()
    duals = torch.zeros_like(sizes)
    for _ in range(rounds):
        scaled = logarithm - (logarithm - duals * spread).logsumexp(dim=1, keepdim=True)
        for _ in range(NEWTON_STEPS):
            entries = scaled - duals * spread
            total = entries.logsumexp(dim=0)
            slope = ((entries - total).exp() * spread).sum(dim=0)
            duals = duals + (total - sizes.log()) / slope
    return (logarithm - duals * spread).softmax(dim=1)


def sizes_among_labels(labeled_per_class: Tensor, part: str) -> Tensor:
    """(C,) counts -> (C,) shares, to which `part` of refine aligns what is believed."""
    without = (labeled_per_class == 0).nonzero().squeeze(1).tolist()
    if without:
        raise ConfigError(
            f"refine=[{part}] gives classes the sizes that they have among the labels, but class {without[0]} has none "
            "and would never be learned; use another method, or split=balanced."
        )
    return labeled_per_class / labeled_per_class.sum()
