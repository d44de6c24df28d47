"""FreeMatch's fairness loss, as a term."""

from collections.abc import Sequence

from torch import Tensor

from smoothpl.nets.several import each_head, for_each_head
from smoothpl.pseudo.fairness import Fairness
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting
from smoothpl.terms.term import Term


class FairnessTerm(Term):
    """On the learned view, with the weights of its lesson; its own weight is already in what it gives."""

    is_hard = True

    def __init__(self, part: Fairness, view: str) -> None:
        super().__init__()
        self.part = part
        self.view = view

    def see(self, step: TrainStep) -> None:
        self.part.see(step.pseudo, step.weight)

    def forward(self, step: TrainStep) -> Tensor:
        logits = step.outputs[self.view].logits
        loss: Tensor = self.part(each_head(logits), for_each_head(step.weight, logits))
        return loss

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]:
        return self.part.obstacles(weighting)
