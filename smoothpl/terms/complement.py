"""What the lesson leaves out: images that are not sure enough teach their sharpened probabilities (ReFixMatch)."""

from torch import Tensor

from smoothpl.errors import ConfigError
from smoothpl.nets.several import each_head, for_each_head
from smoothpl.pseudo.distances import KullbackLeibler
from smoothpl.pseudo.ramps import Ramp
from smoothpl.pseudo.targets import sharpen
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.terms.term import Term


class Complement(Term):
    """E over U of (1 - weight) KL(sg softmax(z / temperature) || p(view)): what it jumps by, the weight jumps by."""

    def __init__(
        self, view: str = "strong", temperature: float = 0.5, weight: float = 1.0, ramp: Ramp | None = None
    ) -> None:
        super().__init__(weight, ramp)
        if not temperature > 0:
            raise ConfigError(f"terms.complement.temperature={temperature} must be positive; 0.5 is published.")
        self.view, self.temperature = view, temperature
        self.needs = frozenset({view}) - {"weak", "strong"}

    def forward(self, step: TrainStep) -> Tensor:
        logits = step.outputs[self.view].logits
        target = for_each_head(sharpen(step.lessons.probabilities, self.temperature), logits)
        left = for_each_head(1 - step.weight, logits)
        return (left * KullbackLeibler()(each_head(logits), target)).mean()
