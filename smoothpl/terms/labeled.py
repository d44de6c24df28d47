"""What labeled images teach besides their first view: another view of them, and pseudo-labels of their own."""

from torch import Tensor

from smoothpl.losses import labeled_loss
from smoothpl.nets.several import each_head, for_each_head
from smoothpl.pseudo.distances import CrossEntropy, Distance
from smoothpl.pseudo.labels import from_probabilities
from smoothpl.pseudo.ramps import Ramp
from smoothpl.pseudo.targets import Hard, Target
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.terms.term import Term

STRONG = "labeled_strong"


def loss_of_labels(logits: Tensor, label: Tensor, held_back: Tensor | None = None) -> Tensor:
    """logits (B, ...) of labeled images, label (B,), held_back (B,) or None -> scalar; of several heads their mean."""
    return labeled_loss(each_head(logits), for_each_head(label, logits), for_each_head(held_back, logits))


class LabeledView(Term):
    """E over L of CE(f(view), GT), on a further view of the labeled images."""

    def __init__(self, view: str = STRONG, weight: float = 1.0, ramp: Ramp | None = None) -> None:
        super().__init__(weight, ramp)
        self.view = view
        self.needs = frozenset({view})

    def forward(self, step: TrainStep) -> Tensor:
        return loss_of_labels(step.outputs[self.view].logits, step.batch.label)


class LabeledLesson(Term):
    """The lesson, given to labeled images as if they had no labels: pseudo-labels and weights of their own.

    With a negative weight it takes the bias of pseudo-labels off the loss (DeFixMatch). It has the weighting of the
    unlabeled images, and jumps where that does.
    """

    def __init__(
        self,
        target: Target,
        view: str = STRONG,
        distance: Distance | None = None,
        weight: float = 1.0,
        ramp: Ramp | None = None,
    ) -> None:
        super().__init__(weight, ramp)
        self.target = target
        self.view = view
        self.distance: Distance = CrossEntropy() if distance is None else distance
        self.needs = frozenset({view})
        self.is_hard = isinstance(target, Hard)

    def forward(self, step: TrainStep) -> Tensor:
        pseudo = from_probabilities(step.beliefs.labeled)
        logits = step.weighting.for_learning(step.outputs[self.view].logits)
        parts = self.target(step.weighting.lessons(pseudo)), step.weighting(pseudo)
        target, weight = (for_each_head(each, logits) for each in parts)
        return (weight * self.distance(each_head(logits), target)).mean()
