"""Entropy meaning: what a sure image leaves for the classes that were in question is shared among them (FullMatch)."""

from collections.abc import Sequence

from torch import Tensor

from smoothpl.nets.several import for_each_head
from smoothpl.pseudo.labels import one_hot
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting
from smoothpl.ranks import num_ranks, of_all_ranks
from smoothpl.terms.negative import SMALL
from smoothpl.terms.term import Term
from smoothpl.terms.top_classes import check_settings, obstacles_of, top_classes

LEFT = 1e-7  # of the share that is left; as published


class Meaning(Term):
    """Binary cross-entropy of every class in question but the label towards the mean of what they have together.

    That mean has a gradient, as published. It is a mean over all classes of images that have a weight; softly, over
    k - 1 classes of all images, so that it fades with the last weight.
    """

    whole_batch = True
    is_hard = True

    def __init__(self, threshold: float | None, ranks: str = "hard", view: str = "strong", weight: float = 1.0) -> None:
        super().__init__(weight)
        check_settings("meaning", ranks, threshold)
        assert threshold is not None
        self.threshold, self.is_soft, self.view = threshold, ranks == "soft", view
        self.needs = frozenset({view}) - {"weak", "strong"}

    def forward(self, step: TrainStep) -> Tensor:
        logits = step.outputs[self.view].logits
        top = top_classes(step, self.view, self.threshold, self.is_soft)
        label, weight = (for_each_head(each, logits) for each in (step.lessons.label, step.weight))
        among = (1 - top.excluded) * (1 - one_hot(label, top.strong.shape[1]))
        taken = ((1 - among) * top.strong).sum(dim=1, keepdim=True)
        target = (1 - taken + LEFT) / (top.number - 1)
        losses = -(target * (top.strong + SMALL).log() + (1 - target) * (1 - top.strong + SMALL).log())
        counts = among * top.counts * weight.unsqueeze(1)
        if self.is_soft:
            return (counts * losses).sum() / (len(counts) * (top.number - 1))
        total: Tensor = of_all_ranks(counts.sum(dim=1)).sum() / num_ranks()
        return (counts * losses).sum() / (total + SMALL)

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]:
        return obstacles_of("meaning", self.is_soft)
