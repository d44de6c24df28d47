"""Dual alignment: ledger alignment without a ledger, one number for every class and nothing that jumps."""

from typing import final

import torch
from torch import Tensor

from smoothpl.errors import require
from smoothpl.pseudo.aligning import sizes_among_labels, tilted
from smoothpl.pseudo.labels import Beliefs
from smoothpl.pseudo.refinement import Refinement


@final
class DualAlignment(Refinement):
    """x_ic ~ p_ic exp(-nu_c H_i), which solves what DARP solves once the duals nu (C,) are right.

    In every step nu_c rises by `rate` times how far the mean of x_c is above the share of class c among the labels: it
    climbs the dual problem.
    """

    from_network = True

    def __init__(self, num_classes: int, rate: float = 0.1) -> None:
        super().__init__()
        require(rate >= 0, f"refine.dual_alignment.rate={rate} must not be negative: 0 never aligns.")
        self.rate = rate
        self.duals: Tensor
        self.wanted: Tensor
        self.register_buffer("duals", torch.zeros(num_classes))
        self.register_buffer("wanted", torch.full((num_classes,), 1 / num_classes))

    def prepare(self, labeled_per_class: Tensor) -> None:
        self.wanted.copy_(sizes_among_labels(labeled_per_class, "dual_alignment"))

    def see(self, beliefs: Beliefs) -> None:
        found = tilted(beliefs.unlabeled.probabilities, self.duals).mean(dim=0)
        self.duals.add_(self.rate * (found - self.wanted))

    def forward(self, probabilities: Tensor) -> Tensor:
        return tilted(probabilities, self.duals)
