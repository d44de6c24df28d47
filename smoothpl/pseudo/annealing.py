"""Annealing: labeled images that the network already knows are held back until late in the run (UDA's TSA)."""

from collections.abc import Callable
from typing import final

import torch
from torch import Tensor, nn

STEEPNESS = 5
SCHEDULES: dict[str, Callable[[Tensor], Tensor]] = {
    "linear": lambda time: time,
    "exp": lambda time: torch.exp((time - 1) * STEEPNESS),
    "log": lambda time: 1 - torch.exp(-time * STEEPNESS),
}
"""From time in [0, 1] to the share of the way from 1 / C, chance, to certainty; exp holds back the longest."""


@final
class Annealing(nn.Module):
    """eta, the probability of its own class above which a labeled image is not learned from.

    How a weight falls towards eta is the shape's affair, turned round: Phi of the doubt 1 - p above 1 - eta. A step is
    UDA's mask; with a ramp the labeled loss is continuously differentiable, too.

    The labeled loss is a mean over the images that are not held back, as in UDA's own code. TorchSSL and USB divide by
    the whole batch: where 6 of 8 images are held back, their labeled loss and its gradient are a quarter of those here,
    and an `unlabeled_weight` found there weighs a quarter as much.
    """

    def __init__(self, schedule: str, num_classes: int, max_steps: int) -> None:
        super().__init__()
        if schedule not in SCHEDULES:
            raise ValueError(f"annealing.schedule={schedule} must be one of {', '.join(SCHEDULES)}.")
        self.schedule = SCHEDULES[schedule]
        self.chance = 1 / num_classes
        self.max_steps = max_steps
        self.steps: Tensor
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def see(self) -> None:
        """Takes note that a step starts."""
        self.steps += 1

    def forward(self) -> Tensor:
        """-> eta, a scalar."""
        time = ((self.steps - 1).clamp(min=0) / self.max_steps).clamp(max=1)
        return self.chance + self.schedule(time) * (1 - self.chance)
