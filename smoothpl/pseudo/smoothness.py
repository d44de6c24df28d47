"""Is the loss continuously differentiable? Every reason why a composition is not, with the way out."""

from collections.abc import Sequence
from typing import Protocol

from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.targets import Hard, Target
from smoothpl.pseudo.weighting import Weighting


class Answerable(Protocol):
    """A part of the loss beside the lesson, which answers for itself."""

    @property
    def is_hard(self) -> bool: ...

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]: ...


def obstacles(weighting: Weighting, target: Target, *parts: Answerable | None) -> list[str]:
    """Empty if the loss is C1 in the network's parameters; the state of a policy counts as a constant within a step.

    `parts`: terms of the loss beside the lesson, FreeMatch's fairness among them.
    """
    return [str(each) for each in all_obstacles(weighting, target, *parts)]


def all_obstacles(weighting: Weighting, target: Target | None, *parts: Answerable | None) -> list[Obstacle]:
    others = [part for part in parts if part is not None]
    is_hard = isinstance(target, Hard) or any(part.is_hard for part in others)
    found = weighting.obstacles(is_hard)
    for part in others:
        found += [each for each in part.obstacles(weighting) if each not in found]
    return found
