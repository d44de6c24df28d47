"""Rotation: by how many quarters of a circle was an image turned? (ReMixMatch)"""

from torch import Tensor
from torch.nn.functional import cross_entropy

from smoothpl.pseudo.train_step import TrainStep
from smoothpl.terms.term import Term


class Rotation(Term):
    """Cross-entropy of a head of four classes on the turned strong view; no pseudo-label is in it."""

    def __init__(self, weight: float = 0.5, head: str = "rotation") -> None:
        super().__init__(weight)
        self.head = head
        self.needs = frozenset({"turn", head})

    def forward(self, step: TrainStep) -> Tensor:
        return cross_entropy(step.outputs["turned"].heads[self.head].float(), step.batch.chance["turn"])
