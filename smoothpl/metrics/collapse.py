"""Collapse: which class the network stopped predicting, at which step, and whether it recovered."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

State = Literal["unborn", "alive", "partly", "collapsed", "recovering"]
"""The state of a class; unborn: the network has not learned to predict it yet."""
COLLAPSED_BELOW = 0.20  # paper, Sec. 4.1
PARTLY_BELOW = 0.50
"""Between the two a class is partly collapsed. Both are fractions of its fair share of the predictions, and so do not
depend on the number of classes."""


class Turn(NamedTuple):
    """The change of a class to another state, at an evaluation; `alive` means that it has recovered."""

    step: int
    number: int  # of the class
    state: State
    share: float


def next_state(state: State, share: float, is_late: bool) -> State:
    """The state after an evaluation. Early in training a network predicts few classes, so that a class counts as
    collapsed only if it was alive before, or if it is still unborn in the second half of the run."""
    if share >= PARTLY_BELOW:
        return "alive"
    if state == "unborn" and not is_late:
        return "unborn"
    if share < COLLAPSED_BELOW:
        return "collapsed"
    return "recovering" if state in ("collapsed", "recovering") else "partly"


class CollapseStory:
    """The states of all classes, and their changes so far; from unborn to alive is not counted as one."""

    def __init__(self, turns: Iterable[Turn] = (), states: Iterable[State] = ()) -> None:
        self.turns = list(turns)
        self.states = list(states)

    def see(self, step: int, shares: list[float], is_late: bool) -> list[Turn]:
        """Takes in the shares of all classes at an evaluation and returns the changes."""
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
    """All changes in a run, from the step and the shares of each of its evaluations."""
    story = CollapseStory()
    for step, shares in history:
        story.see(step, shares, is_late=2 * step >= max_steps)
    return story.turns
