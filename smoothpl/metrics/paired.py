"""Two classifiers on the same images: how much fewer errors one of them makes, and how surely.

scipy is imported late: whoever reads a record knows these pairs, and must not wait for it.
"""

from collections.abc import Collection, Iterable
from math import sqrt
from typing import NamedTuple, Self

NORMAL = 1.959963984540054
"""Of a standard normal distribution, 95 % lie within it."""
EDGE = 1e-9


class PairedErrors(NamedTuple):
    """Images by who was wrong about them. Images about which both were right, or both wrong, tell nothing apart."""

    total: int
    both: int
    only_first: int
    only_second: int

    @classmethod
    def of(cls, first: Collection[int], second: Collection[int], total: int) -> Self:
        """first, second: the numbers of the images that each was wrong about."""
        one, other = {*first}, {*second}
        return cls(total, len(one & other), len(one - other), len(other - one))

    @classmethod
    def pooled(cls, parts: Iterable[Self]) -> Self:
        """Several sets of images as one."""
        return cls(*map(sum, zip(*parts, strict=True)))

    @property
    def first(self) -> int:
        return self.both + self.only_first

    @property
    def second(self) -> int:
        return self.both + self.only_second

    @property
    def gain(self) -> float:
        """By how many points the error of the second is lower."""
        return 100 * (self.only_first - self.only_second) / self.total

    @property
    def interval(self) -> tuple[float, float]:
        """Tango's 95 % interval of the gain, in points (Statistics in Medicine 17, 1998): every gain that a score test
        does not refuse. It has its meaning with few images, too, and with none to tell apart."""
        low = -1.0 if self.only_second == self.total else solve(self, NORMAL)
        high = 1.0 if self.only_first == self.total else solve(self, -NORMAL)
        return 100 * low, 100 * high

    @property
    def p(self) -> float:
        """McNemar's test, exact and two-sided: as likely is a difference this large if both are equally good."""
        from scipy.stats import binomtest

        number = self.only_first + self.only_second
        return float(binomtest(self.only_first, number).pvalue) if number else 1.0


def solve(pairs: PairedErrors, score: float) -> float:
    """The gain, as a share, at which the score test has this statistic: it falls from one end to the other."""
    from scipy.optimize import brentq

    return float(brentq(lambda gain: score_of(pairs, gain) - score, -1 + EDGE, 1 - EDGE, xtol=1e-12))


def score_of(pairs: PairedErrors, gain: float) -> float:
    """How many deviations the observed gain lies above another one."""
    total, here, there = pairs.total, pairs.only_first, pairs.only_second
    # The likeliest share of images that only the second is wrong about, if the gain were this one.
    b = (2 * total - here + there) * gain - here - there
    c = -there * gain * (1 - gain)
    share = (sqrt(b * b - 8 * total * c) - b) / (4 * total)
    variance = total * (2 * share + gain * (1 - gain))
    return (here - there - total * gain) / sqrt(max(variance, 1e-300))
