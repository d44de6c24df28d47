"""Negative learning: classes that are out of the question are taught not to be (FullMatch)."""

from collections.abc import Sequence

from torch import Tensor

from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting
from smoothpl.terms.term import Term
from smoothpl.terms.top_classes import check_settings, obstacles_of, top_classes

SMALL = 1e-10  # as published


class Negative(Term):
    """E over U of the sum of -log(1 - p_c) over all classes but the first k; all images learn it, sure or not."""

    whole_batch = True

    def __init__(self, threshold: float | None, ranks: str = "hard", view: str = "strong", weight: float = 1.0) -> None:
        super().__init__(weight)
        check_settings("negative", ranks, threshold)
        assert threshold is not None
        self.threshold, self.is_soft, self.view = threshold, ranks == "soft", view
        self.needs = frozenset({view}) - {"weak", "strong"}

    def forward(self, step: TrainStep) -> Tensor:
        top = top_classes(step, self.view, self.threshold, self.is_soft)
        return -(top.excluded * top.counts * (1 - top.strong + SMALL).log()).sum(dim=1).mean()

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]:
        return obstacles_of("negative", self.is_soft)
