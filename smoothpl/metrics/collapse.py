"""Collapse as a story: which class stopped being predicted, when, and whether it came back."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

State = Literal["unborn", "alive", "partly", "collapsed", "recovering"]
COLLAPSED_BELOW = 0.20  # paper, Sec. 4.1
PARTLY_BELOW = 0.50
"""From here down to COLLAPSED_BELOW a class is partly collapsed. Both are parts of its fair share of the predictions,
and that does not depend on the number of classes."""


class Turn(NamedTuple):
    """A class has entered another state; `alive` is one that has recovered."""

    step: int
    number: int  # of the class
    state: State
    share: float


def next_state(state: State, share: float, is_late: bool) -> State:
    """A network that has just begun predicts few classes: what counts as collapsed is a class that was alive and is not
    any more, or one that has not come alive in half of the run."""
    if share >= PARTLY_BELOW:
        return "alive"
    if state == "unborn" and not is_late:
        return "unborn"
    if share < COLLAPSED_BELOW:
        return "collapsed"
    return "recovering" if state in ("collapsed", "recovering") else "partly"


class CollapseStory:
    """Every class's state, and its turns so far; a birth is none."""

    def __init__(self, turns: Iterable[Turn] = (), states: Iterable[State] = ()) -> None:
        self.turns = list(turns)
        self.states = list(states)

    def see(self, step: int, shares: list[float], is_late: bool) -> list[Turn]:
        """The shares of all classes at an evaluation -> what is new."""
        before = self.states or ["unborn"] * len(shares)
        self.states = [next_state(state, share, is_late) for state, share in zip(before, shares, strict=True)]
        news = [
            Turn(step, number, now, round(shares[number], 4))
            for number, (then, now) in enumerate(zip(before, self.states, strict=True))
            if now != then and (then, now) != ("unborn", "alive")
        ]
        self.turns += news
        return news


def turns_of(history: Iterable[tuple[int, list[float]]], max_steps: int) -> list[Turn]:
    """The whole story of a run, from the steps of its evaluations and the shares there."""
    story = CollapseStory()
    for step, shares in history:
        story.see(step, shares, is_late=2 * step >= max_steps)
    return story.turns
