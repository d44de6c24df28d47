"""One view of an image teaches another one, softly (SequenceMatch)."""

from torch import Tensor

from smoothpl.errors import ConfigError
from smoothpl.nets.forwards import confidences_of
from smoothpl.nets.several import each_head, for_each_head
from smoothpl.nets.with_heads import base_of
from smoothpl.pseudo.distances import KullbackLeibler
from smoothpl.pseudo.labels import PseudoLabels, from_probabilities, probabilities
from smoothpl.pseudo.ramps import Ramp
from smoothpl.pseudo.targets import sharpen
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.terms.term import Term

KNOWN = ("weak", "strong")


class BetweenViews(Term):
    """E over U of weight * KL(sg softmax(z_teacher / temperature) || p_learner).

    The weight is the method's, by what the teaching view believes. A policy remembers the weak view alone.
    """

    def __init__(
        self, teacher: str, learner: str, temperature: float = 0.5, weight: float = 1.0, ramp: Ramp | None = None
    ) -> None:
        super().__init__(weight, ramp)
        if not temperature > 0:
            raise ConfigError(f"temperature={temperature} of a term between views must be positive; 0.5 is published.")
        self.teacher, self.learner, self.temperature = teacher, learner, temperature
        self.needs = frozenset({teacher, learner}) - {*KNOWN}

    def forward(self, step: TrainStep) -> Tensor:
        lessons, weight = self.judged(step)
        logits = step.outputs[self.learner].logits
        target = for_each_head(sharpen(lessons.probabilities, self.temperature), logits)
        return (for_each_head(weight, logits) * KullbackLeibler()(each_head(logits), target)).mean()

    def judged(self, step: TrainStep) -> tuple[PseudoLabels, Tensor]:
        """What is taught, and its weight (U,)."""
        if self.teacher == "weak":
            return step.lessons, step.weight
        logits = confidences_of(base_of(step.network), step.outputs[self.teacher].logits.detach())
        pseudo = from_probabilities(probabilities(logits), step.batch.image)
        return step.weighting.lessons(pseudo), step.weighting(pseudo)
