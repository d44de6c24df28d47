"""Similarity of images by their embeddings."""

import torch
from torch import Tensor


def similarity(one: Tensor, other: Tensor, temperature: float = 1.0) -> Tensor:
    """(n, d), (m, d) -> (n, m) products over the temperature, in float32 also where precision is mixed."""
    with torch.autocast(one.device.type, enabled=False):
        return one.float() @ other.float().T / temperature
