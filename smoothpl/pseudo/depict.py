"""Depict: what is taught, evened out among the classes of a batch (STOCO)."""

from typing import final

from torch import Tensor

from smoothpl.pseudo.refinement import Refinement
from smoothpl.ranks import of_all_ranks


@final
class Depict(Refinement):
    """q_ic ~ p_ic / sqrt(sum_i p_ic), made to sum to 1 over the classes: rare classes of a batch gain by it.

    It is taught only: images weigh by what was believed before. The sum is over the batch of all ranks.
    """

    weighs = False
    whole_batch = True

    def forward(self, probabilities: Tensor) -> Tensor:
        total: Tensor = of_all_ranks(probabilities).sum(dim=0)
        evened = probabilities / total.clamp(min=1e-30).sqrt()
        return evened / evened.sum(dim=1, keepdim=True)
