"""Views: images turned by quarters of a circle, whose number a network learns to tell."""

import torch
from torch import Tensor


def quarter_turns(images: Tensor, turn: Tensor) -> Tensor:
    """images (U, channels, side, side), turn (U,) 0 to 3 -> the same dims."""
    every = torch.stack([torch.rot90(images, number, dims=(-2, -1)) for number in range(4)])
    return every[turn, torch.arange(len(turn), device=turn.device)]
