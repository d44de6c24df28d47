"""Wilcoxon's signed-rank test, exact: are paired differences larger than zero by more than chance?"""

from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm, rankdata, wilcoxon

Zeros = Literal["wilcoxon", "pratt"]
DECIMALS = 6
"""Errors are percentages of a few thousand images: smaller differences are due to rounding and count as none."""
MOST_EXACT = 1000
"""Pairs: a second. The smallest p of more than 1074 is no longer a number."""
MIDDLE = 1e-3
"""Below this many deviations from the middle, differences of reciprocals are rounding alone."""


class SignedRank(NamedTuple):
    """The result of the test: how likely chance alone makes the differences of pairs as positive as they are."""

    p: float  # one-sided: differences above zero
    n: int  # pairs that differ
    zeros: int  # pairs that do not
    ties: int  # pairs whose difference has the size of another one's
    smallest_p: float  # that n pairs could have given
    effect: float  # matched-pairs rank-biserial correlation, from -1 to 1
    method: str


def signed_rank(differences: list[float], zeros: Zeros = "wilcoxon") -> SignedRank:
    """Every assignment of signs to the ranks is equally likely; ties share the mean of their ranks.

    SciPy's exact method has no ties and no zeros, and its permutations are a sample. `zeros`: pairs that do not differ
    are left out before ranks are given (`wilcoxon`), or after (`pratt`).
    """
    rounded = np.round(np.asarray(differences, dtype=float), DECIMALS)
    if not np.isfinite(rounded).all():
        raise ValueError("differences must be finite.")
    differing = rounded[rounded != 0]
    ranks = rankdata(np.abs(rounded))[rounded != 0] if zeros == "pratt" else rankdata(np.abs(differing))
    n = len(differing)
    positive = float(ranks[differing > 0].sum())
    sizes, counts = np.unique(np.abs(differing), return_counts=True)
    ties = int(counts[counts > 1].sum()) if len(sizes) else 0
    effect = float(2 * positive / ranks.sum() - 1) if n else 0.0
    is_exact = n <= MOST_EXACT
    p = exact_tail(ranks, positive) if is_exact else saddlepoint_tail(ranks, positive)
    return SignedRank(p, n, len(rounded) - n, ties, 0.5**n, effect, "exact" if is_exact else "saddlepoint")


def exact_tail(ranks: np.ndarray, positive: float) -> float:
    """The probability of a sum of positive ranks as large as this one or larger, over all 2^n signs.

    Ranks are multiples of a unit, so the distribution of their sum is built up rank by rank.
    """
    unit = unit_of(ranks)
    steps = np.rint(ranks / unit).astype(int)
    probability = np.zeros(steps.sum() + 1)
    probability[0] = 1.0
    size = 1
    for step in steps:
        without, size = probability[:size] / 2, size + step
        probability[:size] /= 2
        probability[step:size] += without
    return float(min(1.0, probability[round(positive / unit) :].sum()))


def saddlepoint_tail(ranks: np.ndarray, positive: float) -> float:
    """The same by Lugannani's and Rice's formula, corrected for a sum that moves in units (Daniels 1987, Sec. 6).

    Good to 1 % for 300 pairs and better for more, until 99 % of the ranks are positive; the normal distribution is good
    near the middle only.
    """
    whole, unit = float(ranks.sum()), unit_of(ranks)
    if positive >= whole:
        return float(0.5 ** len(ranks))
    at = positive - unit / 2
    if at < whole / 2:
        return 1 - saddlepoint_tail(ranks, whole - positive + unit)
    tilt = tilt_with_mean(ranks, at)
    chance = expit(tilt * ranks)
    w = float(np.sqrt(2 * max(0.0, tilt * at - (np.logaddexp(0, tilt * ranks) - np.log(2)).sum())))
    if w < MIDDLE:
        return float(norm.sf(w))
    u = 2 / unit * np.sinh(unit * tilt / 2) * np.sqrt((ranks**2 * chance * (1 - chance)).sum())
    return float(norm.sf(w) + norm.pdf(w) * (1 / u - 1 / w))


def tilt_with_mean(ranks: np.ndarray, mean: float) -> float:
    """How much likelier positive signs must be, by rank, for their sum to have this mean: at least half the whole."""

    def too_much(tilt: float) -> float:
        return float((ranks * expit(tilt * ranks)).sum()) - mean

    most = 1 / ranks.sum()
    while too_much(most) < 0:
        most *= 2
    return float(brentq(too_much, 0, most, xtol=1e-300, rtol=1e-14))


def unit_of(ranks: np.ndarray) -> float:
    """What all ranks are multiples of; twice a rank is a whole number."""
    return float(np.gcd.reduce(np.rint(2 * ranks).astype(int), initial=0) or 2) / 2


def paper_p(differences: list[float]) -> float:
    """The p-value as the paper computed it, by the defaults of SciPy up to 1.8: exact for at most 25 pairs that all
    differ, otherwise the normal approximation without correction for continuity."""
    rounded = np.round(np.asarray(differences, dtype=float), DECIMALS)
    if not rounded.any():
        return 1.0
    method = "exact" if len(rounded) <= 25 and rounded.all() else "asymptotic"
    test = wilcoxon(rounded, alternative="greater", zero_method="wilcox", correction=False, method=method)
    return float(test.pvalue)
