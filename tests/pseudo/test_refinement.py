from unittest.mock import Mock

import torch
from torch import Tensor

from smoothpl.data import Batch
from smoothpl.pseudo import Fixed, Power, RunningAlignment, Weighting
from smoothpl.pseudo.refinement import Outputs, Refinement
from tests.support.steps import CLASSES, random_steps


class Sharper(Refinement):
    """Squares probabilities, and keeps those that came to it."""

    def __init__(self) -> None:
        super().__init__()
        self.came: list[Tensor] = []

    def refine(self, probabilities: Tensor, outputs: Outputs | None, image: Tensor | None) -> Tensor:
        return probabilities**2 / (probabilities**2).sum(dim=1, keepdim=True)

    def observe(self, probabilities: Tensor, outputs: Outputs, batch: Batch) -> None:
        self.came.append(probabilities)


def test_refinements_work_one_after_the_other_and_alignment_is_the_first() -> None:
    align, sharper = RunningAlignment(CLASSES, "uniform", momentum=0.9), Sharper()
    weighting = Weighting(Fixed(0.5), Power(), alignment=align, refine=[sharper])
    for beliefs in random_steps(5):
        weighting.see(beliefs)
        aligned = align(beliefs.unlabeled.probabilities)
        expected = sharper.refine(aligned, None, None)
        torch.testing.assert_close(weighting.lessons(beliefs.unlabeled).probabilities, expected)
        weight = weighting(beliefs.unlabeled)
        torch.testing.assert_close(weight, ((expected.amax(1) - 0.5) / 0.5).clamp(min=0))
        weighting.observe(beliefs.unlabeled, weight, {}, Mock(spec=Batch))
        torch.testing.assert_close(sharper.came[-1], aligned)
    assert weighting.refinements == [align, sharper]
