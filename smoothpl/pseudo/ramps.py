"""Ramp: how the weight of a term grows in the course of a run."""

from typing import final

import torch
from torch import Tensor, nn


@final
class Ramp(nn.Module):
    """From 0 at the first step to 1 when the share `until` of the run is done, and 1 from then on.

    `linear` is the field's; `cosine` and `sigmoid` are flat at both ends (Mean Teacher's exp(-5 (1 - t)^2)).
    """

    def __init__(self, max_steps: int, until: float = 1.0, kind: str = "linear") -> None:
        super().__init__()
        if kind not in ("linear", "cosine", "sigmoid"):
            raise ValueError(f"ramp.kind={kind} must be linear, cosine or sigmoid.")
        if not 0 < until <= 1:
            raise ValueError(f"ramp.until={until} must lie in (0, 1]: a share of the run.")
        self.kind = kind
        self.length = max_steps * until
        self.steps: Tensor
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def see(self) -> None:
        """Takes note that a step is over."""
        self.steps += 1

    def forward(self) -> Tensor:
        """-> a scalar in [0, 1]."""
        time = (self.steps / self.length).clamp(max=1)
        if self.kind == "cosine":
            return (1 - torch.cos(torch.pi * time)) / 2
        return torch.exp(-5 * (1 - time) ** 2) if self.kind == "sigmoid" else time
