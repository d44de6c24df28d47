"""What mixed images are taught: the mixture of what their parts are taught."""

import torch
from torch import Tensor

from smoothpl.pseudo.distances import CrossEntropy, Distance
from smoothpl.pseudo.labels import one_hot
from smoothpl.pseudo.mixing import MIXED, Mix
from smoothpl.pseudo.ramps import Ramp
from smoothpl.pseudo.targets import Target
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.terms.term import Term

LABELED = "labeled"


def mixed_targets(mix: Mix, target: Target, step: TrainStep) -> dict[str, Tensor]:
    """(n, C) for every view that is mixed."""
    num_classes = step.pseudo.probabilities.shape[1]
    guessed = target(step.lessons)
    guessed = guessed if guessed.ndim == 2 else one_hot(guessed, num_classes)
    taught = {name: one_hot(step.batch.label, num_classes) if name == LABELED else guessed for name in mix.of}
    return mix.together(step.batch, taught)


class MixedLabels(Term):
    """Cross-entropy on mixed labeled images: takes the place of the loss on labeled ones."""

    looks_at_weak = False

    def __init__(self, mix: Mix, target: Target, weight: float = 1.0) -> None:
        super().__init__(weight)
        self.mix, self.target = mix, target

    def forward(self, step: TrainStep) -> Tensor:
        logits = step.outputs[f"{MIXED}{LABELED}"].logits
        return CrossEntropy()(logits, mixed_targets(self.mix, self.target, step)[LABELED]).mean()


class MixedLesson(Term):
    """E over all mixed unlabeled images of weight * distance(f(mixed), mixed target)."""

    looks_at_weak = False

    def __init__(
        self,
        mix: Mix,
        target: Target,
        distance: Distance | None = None,
        weight: float = 1.0,
        ramp: Ramp | None = None,
    ) -> None:
        super().__init__(weight, ramp)
        self.mix, self.target = mix, target
        self.distance: Distance = CrossEntropy() if distance is None else distance

    def forward(self, step: TrainStep) -> Tensor:
        targets = mixed_targets(self.mix, self.target, step)
        each = [
            step.weight * self.distance(step.outputs[f"{MIXED}{name}"].logits, targets[name])
            for name in self.mix.of
            if name != LABELED
        ]
        return torch.cat(each).mean()
