"""Statistics of many runs: the spread of errors, and the comparison of two methods, pair by pair."""

from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import bootstrap

from smoothpl.results.signed_rank import DECIMALS, SignedRank, Zeros, paper_p, signed_rank

Statistics = Literal["exact", "pratt", "paper"]
CONFIDENCE = 0.95


class Spread(NamedTuple):
    """Mean, deviation and range; the deviation is that of the population (ddof = 0), as in the paper."""

    n: int
    mean: float
    std: float
    max: float
    min: float

    @property
    def range(self) -> float:
        return self.max - self.min


def spread(numbers: list[float]) -> Spread:
    return Spread(len(numbers), float(np.mean(numbers)), float(np.std(numbers)), max(numbers), min(numbers))


class Comparison(NamedTuple):
    """A comparison of pairs; a gain above zero is an improvement."""

    gains: list[float]
    spread: Spread
    wins: int
    losses: int
    test: SignedRank
    p: float  # by the convention that was asked for
    interval: tuple[float, float] | None  # of the mean gain, by bootstrap; None for a single pair

    @property
    def is_exact(self) -> bool:
        return self.p == self.test.p and self.test.method == "exact"

    @property
    def smallest_p(self) -> float | None:
        """The smallest p that so many pairs that differ can give; None where p is an approximation."""
        return self.test.smallest_p if self.is_exact else None

    @property
    def is_smallest_p(self) -> bool:
        return self.test.n > 0 and self.p == self.smallest_p


def compare(gains: list[float], statistics: Statistics = "exact") -> Comparison:
    rounded = [round(gain, DECIMALS) for gain in gains]
    zeros: Zeros = "pratt" if statistics == "pratt" else "wilcoxon"
    test = signed_rank(rounded, zeros)
    return Comparison(
        gains=rounded,
        spread=spread(rounded),
        wins=sum(gain > 0 for gain in rounded),
        losses=sum(gain < 0 for gain in rounded),
        test=test,
        p=paper_p(rounded) if statistics == "paper" else test.p,
        interval=interval_of_mean(rounded),
    )


def interval_of_mean(numbers: list[float]) -> tuple[float, float] | None:
    """Bootstrap: percentiles of the means of samples drawn with replacement, always the same for the same numbers."""
    if len(numbers) < 2:
        return None
    found = bootstrap(
        (numbers,),
        np.mean,
        confidence_level=CONFIDENCE,
        method="percentile",
        n_resamples=4999,
        batch=max(1, 1_000_000 // len(numbers)),  # so that memory does not grow with the number of pairs
        rng=np.random.default_rng(0),
    )
    low, high = found.confidence_interval
    return float(low), float(high)


def holm(p_values: list[float]) -> list[float]:
    """p-values after Holm's correction for several comparisons, in the same order. SciPy does not have it."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for place, number in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[number]))
        corrected[number] = largest
    return corrected
