"""Views: images turned by quarters of a circle, whose number a network learns to tell."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from smoothpl.data.views.view import View


@dataclass(frozen=True)
class Turned(View):
    """Another view, turned: for a bank, which keeps every turn of it."""

    view: View
    quarters: int

    @property
    def num_draws(self) -> int:  # type: ignore[override]
        return self.view.num_draws

    def plan(self, draws: Tensor, dims: torch.Size) -> Any:
        return self.view.plan(draws, dims)

    def __call__(self, images: Tensor, plan: Any) -> Tensor:
        return torch.rot90(self.view(images, plan), self.quarters, dims=(-2, -1))


def quarter_turns(images: Tensor, turn: Tensor) -> Tensor:
    """images (U, channels, side, side), turn (U,) 0 to 3 -> the same dims."""
    every = torch.stack([torch.rot90(images, number, dims=(-2, -1)) for number in range(4)])
    return every[turn, torch.arange(len(turn), device=turn.device)]


def every_turn(images: Tensor) -> Tensor:
    """images (n, channels, side, side) -> (4 n, ...): of each image the four turns, one after the other."""
    every = [torch.rot90(images, number, dims=(-2, -1)) for number in range(4)]
    return torch.stack(every, dim=1).flatten(0, 1)
