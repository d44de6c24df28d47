"""Entropy of predictions: the network learns to be sure of unlabeled images, of whatever class."""

from torch import Tensor

from smoothpl.nets.several import each_head
from smoothpl.pseudo.ramps import Ramp
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.terms.term import Term


class Entropy(Term):
    """E over U of H(p(view)), with its gradient; all images count."""

    def __init__(self, view: str = "weak", weight: float = 1.0, ramp: Ramp | None = None) -> None:
        super().__init__(weight, ramp)
        self.view = view
        self.needs = frozenset({view}) - {"weak", "strong"}

    def forward(self, step: TrainStep) -> Tensor:
        log = each_head(step.outputs[self.view].logits).float().log_softmax(dim=1)
        return -(log.exp() * log).sum(dim=1).mean()
