"""A term: what one part of a method adds to the loss of a step."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from torch import Tensor, nn

from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.ramps import Ramp
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting


class Term(nn.Module, ABC):
    """Its memory, if it has one, is in buffers: `see` the step before the loss is asked for, `observe` it afterwards.

    A term has no threshold of its own kind: what it cuts, it cuts by the shape of the method, so that a shape smooths a
    whole method.
    """

    needs: frozenset[str] = frozenset()
    """Views, chance and heads without which it cannot work (views_wanted, extra_heads)."""
    whole_batch = False
    """Whether it compares images with each other: then a step cannot be computed in parts (accumulate)."""

    weak_learns = False
    """Whether the weak view learns by it, which forward=split leaves without gradient."""
    looks_at_weak = True
    """Whether it asks what the network itself makes of the weak view, when a teacher looks at that by itself."""
    is_hard = False
    """Whether it takes the dominant class of an image for granted, which jumps where two classes tie."""

    def __init__(self, weight: float = 1.0, ramp: Ramp | None = None) -> None:
        super().__init__()
        self.weight = weight
        self.ramp = ramp

    def prepare(self, num_unlabeled: int, labeled_per_class: Tensor) -> None:
        """Called once, before training and before a checkpoint is loaded."""

    def see(self, step: TrainStep) -> None:
        """Takes note of a step before its loss is asked for."""

    @abstractmethod
    def forward(self, step: TrainStep) -> Tensor:
        """-> a scalar, without its weight."""

    def weighted(self, loss: Tensor) -> Tensor:
        """What is added to the loss of the step."""
        if self.ramp is None:
            return self.weight * loss
        scale: Tensor = self.weight * self.ramp()
        return scale * loss

    def observe(self, step: TrainStep) -> None:
        """Takes note of a step when all is done."""

    def finish(self, step: TrainStep) -> None:
        self.observe(step)
        if self.ramp is not None:
            self.ramp.see()

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]:
        """Why it is not continuously differentiable, if it is not."""
        return ()
