"""Rotation: by how many quarters of a circle was an image turned? (ReMixMatch, CRMatch)"""

import torch
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


class FourTurns(Term):
    """Cross-entropy of such a head on all four turns of weak views of other images (CRMatch)."""

    def __init__(self, weight: float = 1.0, head: str = "rotation") -> None:
        super().__init__(weight)
        self.head = head
        self.needs = frozenset({"quarters", head})

    def forward(self, step: TrainStep) -> Tensor:
        logits = step.outputs["quarters"].heads[self.head].float()
        return cross_entropy(logits, torch.arange(4, device=logits.device).repeat(len(logits) // 4))
