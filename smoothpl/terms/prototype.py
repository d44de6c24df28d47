"""Prototype: a strong view should be as near to the prototypes of classes as the weak one is."""

import torch
from torch import Tensor

from smoothpl.pseudo.prototypes import Prototypes
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.terms.term import Term

MEMORY = "prototypes"


class Prototype(Term):
    """E over U of CE(sg softmax(near(g_w)), near(g)), whatever an image is believed to show; 0 until there are some."""

    def __init__(self, weight: float = 1.0, view: str = "strong", head: str = "projection") -> None:
        super().__init__(weight)
        self.view, self.head = view, head
        self.needs = frozenset({view, head, MEMORY}) - {"weak", "strong"}

    def forward(self, step: TrainStep) -> Tensor:
        (part,) = (each for each in step.weighting.refinements if isinstance(each, Prototypes))
        wanted = part.nearness(step.outputs["weak"].heads[self.head].detach()).softmax(dim=1)
        learned = part.nearness(step.outputs[self.view].heads[self.head]).log_softmax(dim=1)
        return torch.where(part.is_ready, -(wanted * learned).sum(dim=1).mean(), 0)
