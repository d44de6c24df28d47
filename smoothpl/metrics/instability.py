"""Instability: sudden rises of the test error, after it had settled."""

from collections.abc import Sequence
from itertools import pairwise

RISE = 5.0
"""Points by which the error must exceed that of the previous evaluation."""


def sudden_rises(history: Sequence[tuple[int, float]]) -> list[tuple[int, float, float]]:
    """Step and error of every evaluation -> step, error before and error after each sudden rise. Only the second half
    of a run counts: in the first half the error of every network fluctuates."""
    settled = history[len(history) // 2 :]
    return [(step, before, now) for (_, before), (step, now) in pairwise(settled) if now - before >= RISE]
