"""Far: a strong view should not look like the weak one to a head that sees where things are (CRMatch)."""

from collections.abc import Sequence

from torch import Tensor
from torch.nn.functional import cosine_similarity, relu

from smoothpl.errors import ConfigError
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting
from smoothpl.terms.term import Term

KINK = Obstacle(
    "the distance has a kink where embeddings are at a right angle",
    "terms.far.hinge=squared",
    ("terms.far.hinge=squared",),
)


class Far(Term):
    """E over U of weight * relu(cos(g_strong, g_weak)), with the weights of the lesson and both views learning.

    `hinge="squared"`: relu(cos)^2, which has no kink.
    """

    weak_learns = True

    def __init__(self, hinge: str = "plain", weight: float = 1.0, view: str = "strong", head: str = "distance") -> None:
        super().__init__(weight)
        if hinge not in ("plain", "squared"):
            raise ConfigError(f"terms.far.hinge={hinge} must be plain (as published) or squared (without a kink).")
        self.is_squared, self.view, self.head = hinge == "squared", view, head
        self.needs = frozenset({view, head}) - {"weak", "strong"}

    def forward(self, step: TrainStep) -> Tensor:
        one, other = (step.outputs[view].heads[self.head].float() for view in (self.view, "weak"))
        alike = relu(cosine_similarity(one, other))
        return (step.weight * (alike.square() if self.is_squared else alike)).mean()

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]:
        return [] if self.is_squared else [KINK]
