"""Wilcoxon's signed-rank test, exact: are paired differences larger than zero by more than chance?"""

from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import norm, rankdata, wilcoxon

Zeros = Literal["wilcoxon", "pratt"]
DECIMALS = 6
"""Errors are percentages of a few thousand images: smaller differences are due to rounding and count as none."""
MOST_EXACT = 300
"""Pairs; for more, the normal approximation is good enough."""


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
    p = exact_tail(ranks, positive) if is_exact else normal_tail(ranks, positive)
    return SignedRank(p, n, len(rounded) - n, ties, 0.5**n, effect, "exact" if is_exact else "normal")


def exact_tail(ranks: np.ndarray, positive: float) -> float:
    """The probability of a sum of positive ranks as large as this one or larger, over all 2^n signs.

    Twice the ranks are whole numbers, so the distribution of their sum is built up rank by rank.
    """
    doubled = np.rint(2 * ranks).astype(int)
    probability = np.zeros(doubled.sum() + 1)
    probability[0] = 1.0
    for rank in doubled:
        probability[rank:] = (probability[rank:] + probability[: len(probability) - rank]) / 2
        probability[:rank] /= 2
    return float(min(1.0, probability[round(2 * positive) :].sum()))


def normal_tail(ranks: np.ndarray, positive: float) -> float:
    deviation = float(np.sqrt((ranks**2).sum())) / 2
    return float(norm.sf((positive - ranks.sum() / 2) / deviation))


def paper_p(differences: list[float]) -> float:
    """The p-value as the paper computed it, by the defaults of SciPy up to 1.8: exact for at most 25 pairs that all
    differ, otherwise the normal approximation without correction for continuity."""
    rounded = np.round(np.asarray(differences, dtype=float), DECIMALS)
    if not rounded.any():
        return 1.0
    method = "exact" if len(rounded) <= 25 and rounded.all() else "asymptotic"
    test = wilcoxon(rounded, alternative="greater", zero_method="wilcox", correction=False, method=method)
    return float(test.pvalue)
