"""Instances: a strong view should resemble the same labeled images as the weak one does (SimMatch)."""

import torch
from torch import Tensor

from smoothpl.pseudo.labeled_bank import LabeledBank
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.terms.term import Term

BANK = "labeled_bank"


class Instance(Term):
    """E over U of CE(sg b, softmax(g . bank / temperature)), with b ~ a p[label], 0 until the bank is ready.

    a is the similarity of the weak view to every labeled image, and p how far the class of that image is believed in,
    after alignment and before the bank has corrected it.
    """

    def __init__(self, weight: float = 1.0, view: str = "strong", head: str = "projection") -> None:
        super().__init__(weight)
        self.view, self.head = view, head
        self.needs = frozenset({view, head, BANK}) - {"weak", "strong"}

    def forward(self, step: TrainStep) -> Tensor:
        (bank,) = (each for each in step.weighting.refinements if isinstance(each, LabeledBank))
        near = bank.nearness(step.outputs["weak"].heads[self.head].detach()).softmax(dim=1)
        believed: Tensor = step.weighting.alignment(step.pseudo.probabilities)
        wanted = near * believed[:, bank.label]
        wanted = wanted / wanted.sum(dim=1, keepdim=True).clamp(min=1e-30)
        learned = bank.nearness(step.outputs[self.view].heads[self.head]).log_softmax(dim=1)
        return torch.where(bank.is_ready, -(wanted * learned).sum(dim=1).mean(), 0)
