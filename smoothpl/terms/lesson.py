"""The lesson: what the learned view is taught of the pseudo-labels. Every method has one, and it comes first."""

from collections.abc import Sequence

from torch import Tensor

from smoothpl.nets.head_with_dropout import ask
from smoothpl.nets.several import each_head, for_each_head
from smoothpl.pseudo.distances import CrossEntropy, Distance
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.ramps import Ramp
from smoothpl.pseudo.targets import Target
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting
from smoothpl.terms.term import Term

LESSON = "lesson"
"""Its name among the terms of a method."""


def loss_name(term: str) -> str:
    """What a term is logged as: the lesson is the paper's unlabeled loss."""
    return f"{'unlabeled' if term == LESSON else term}_loss"


class Lesson(Term):
    """E over U of weight * distance(f(view), target).

    The mean is over all images, also those of weight 0 (paper, Eq. of L_SFM). With cross-entropy and the strong view it
    is L_FM or L_SFM, with the weak view L_PL or L_SPL; the shape tells which.
    """

    def __init__(
        self,
        target: Target,
        view: str = "strong",
        distance: Distance | None = None,
        weight: float = 1.0,
        ramp: Ramp | None = None,
        head: str | None = None,
    ) -> None:
        super().__init__(weight, ramp)
        self.target = target
        self.view = view
        self.distance: Distance = CrossEntropy() if distance is None else distance
        self.head = head
        self.needs = frozenset({view} if head is None else {view, head}) - {"weak", "strong"}

    @property
    def looks_at_weak(self) -> bool:  # type: ignore[override]
        return self.view == "weak"

    def forward(self, step: TrainStep) -> Tensor:
        logits = step.weighting.for_learning(self.learned(step))
        balanced = step.weighting.balanced(step.weight, step.lessons)
        target, weight = (for_each_head(each, logits) for each in (self.target(step.lessons), balanced))
        return (weight * self.distance(each_head(logits), target)).mean()

    def learned(self, step: TrainStep) -> Tensor:
        """-> (U, C) logits: of the head that gives the pseudo-labels, or of another one (DST)."""
        output = step.outputs[self.view]
        return output.logits if self.head is None else ask(step.network, self.head, output, step.batch.chance)

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]:
        return ()  # those of its target are those of the weighting: smoothness.py
