"""Sudden falls: what the paper calls instability, found in the errors of a run."""

from collections.abc import Sequence
from itertools import pairwise

FALL = 5.0
"""Points: an error that is so much larger than at the evaluation before is a sudden fall, if it had settled."""


def sudden_falls(history: Sequence[tuple[int, float]]) -> list[tuple[int, float, float]]:
    """Step and error of every evaluation -> step, error before and after, of the falls in the second half: a network
    that has just begun goes up and down."""
    settled = history[len(history) // 2 :]
    return [(step, before, now) for (_, before), (step, now) in pairwise(settled) if now - before >= FALL]
