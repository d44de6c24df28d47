"""Paired errors against published examples, and against the score test by brute force."""

from math import comb, log, sqrt

import pytest
from scipy.optimize import minimize_scalar

from smoothpl.metrics.paired import NORMAL, PairedErrors

AIRWAYS = PairedErrors(total=21, both=1, only_first=1, only_second=7)
RESPONSE = PairedErrors(total=161, both=59, only_first=6, only_second=16)
"""Fagerland, Lydersen and Laake, Statistics in Medicine 33 (2014), after Bentur et al. and Cavo et al."""
LENSES = PairedErrors(total=44, both=43, only_first=0, only_second=1)
"""Tango, Statistics in Medicine 17 (1998)."""


@pytest.mark.parametrize(
    ("pairs", "gain", "low", "high"),
    [(AIRWAYS, -28.6, -51.7, -2.6), (RESPONSE, -6.21, -12.40, -0.54), (LENSES, -2.27, -11.8, 5.9)],
)
def test_the_interval_is_the_published_one(pairs: PairedErrors, gain: float, low: float, high: float) -> None:
    assert (pairs.gain, *pairs.interval) == pytest.approx((gain, low, high), abs=0.06)


def test_the_exact_test_is_the_published_one() -> None:
    assert RESPONSE.p == pytest.approx(0.052479, abs=1e-6)
    assert AIRWAYS.p == pytest.approx(0.0703, abs=1e-4)


def test_the_exact_test_is_twice_the_tail_of_a_fair_coin() -> None:
    pairs = PairedErrors(total=50, both=3, only_first=9, only_second=2)
    assert pairs.p == pytest.approx(2 * sum(comb(11, k) for k in range(3)) / 2**11)


@pytest.mark.parametrize("counts", [(40, 5, 3, 9), (100, 0, 1, 0), (60, 20, 10, 10), (30, 2, 6, 0)])
def test_at_both_ends_a_score_test_says_five_percent(counts: tuple[int, int, int, int]) -> None:
    pairs = PairedErrors(*counts)
    low, high = pairs.interval
    assert [score_by_brute_force(pairs, end / 100) for end in (low, high)] == pytest.approx([NORMAL, -NORMAL], abs=1e-3)


def score_by_brute_force(pairs: PairedErrors, gain: float) -> float:
    """The likeliest shares are searched for, not computed."""
    n, here, there = pairs.total, pairs.only_first, pairs.only_second

    def unlikely(share: float) -> float:
        shares = (share + gain, share, 1 - gain - 2 * share)
        return -sum(k * log(max(p, 1e-300)) for k, p in zip((here, there, n - here - there), shares, strict=True) if k)

    within = (max(0.0, -gain), (1 - gain) / 2)
    share = minimize_scalar(unlikely, bounds=within, method="bounded", options={"xatol": 1e-12}).x
    return (here - there - n * gain) / sqrt(n * (2 * share + gain - gain**2))


def test_one_without_the_other_turns_everything_around() -> None:
    pairs = PairedErrors(total=70, both=8, only_first=11, only_second=4)
    turned = PairedErrors(total=70, both=8, only_first=4, only_second=11)
    assert turned.gain == -pairs.gain
    assert turned.interval == pytest.approx([-end for end in reversed(pairs.interval)])
    assert turned.p == pairs.p


def test_images_on_which_both_agree_say_how_large_a_difference_can_be() -> None:
    """z^2 / (n + z^2), as Wilson's interval says of an error that never happened."""
    pairs = PairedErrors(total=20, both=3, only_first=0, only_second=0)
    assert pairs.interval == pytest.approx([-16.11, 16.11], abs=0.01)
    assert pairs.p == 1


@pytest.mark.parametrize("counts", [(5, 0, 5, 0), (5, 0, 0, 5), (1, 1, 0, 0), (1, 0, 1, 0)])
def test_no_end_lies_outside_what_is_possible(counts: tuple[int, int, int, int]) -> None:
    pairs = PairedErrors(*counts)
    low, high = pairs.interval
    assert -100 <= low <= pairs.gain <= high <= 100


def test_pairs_are_counted_from_the_numbers_of_wrong_images_and_pooled() -> None:
    first = PairedErrors.of([0, 2, 5], [2, 3], total=8)
    assert first == (8, 1, 2, 1)
    assert (first.first, first.second) == (3, 2)
    assert PairedErrors.pooled([first, PairedErrors(4, 0, 1, 2)]) == (12, 1, 3, 3)
