from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from smoothpl.results.signed_rank import Zeros, exact_tail, paper_p, saddlepoint_tail, signed_rank, unit_of

WITH_TIES_AND_ZEROS = st.lists(st.integers(-4, 4).map(lambda number: number / 8), min_size=1, max_size=9)


def midranks(sizes: list[float]) -> list[Fraction]:
    """For each number: how many are smaller, plus half of those that are equal, itself included, and a half."""
    return [
        sum(Fraction(other < size) + Fraction(other == size, 2) for other in sizes) + Fraction(1, 2) for size in sizes
    ]


def by_enumeration(differences: list[float], zeros: Zeros) -> Fraction:
    """All 2^n signs, one after the other, in fractions."""
    ranks = midranks([abs(each) for each in differences if each or zeros == "pratt"])
    kept = [each for each in differences if each or zeros == "pratt"]
    pairs = [(rank, each) for rank, each in zip(ranks, kept, strict=True) if each]
    observed = sum(rank for rank, each in pairs if each > 0)
    sums = [
        sum(rank for (rank, _), is_positive in zip(pairs, signs, strict=True) if is_positive)
        for signs in product((0, 1), repeat=len(pairs))
    ]
    return Fraction(sum(each >= observed for each in sums), len(sums))


@settings(deadline=None, max_examples=150)
@given(WITH_TIES_AND_ZEROS, st.sampled_from(["wilcoxon", "pratt"]))
def test_p_is_the_share_of_sign_assignments_that_are_as_extreme(differences: list[float], zeros: Zeros) -> None:
    assert signed_rank(differences, zeros).p == pytest.approx(float(by_enumeration(differences, zeros)), abs=1e-12)


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=20, unique_by=lambda number: round(abs(number), 6)))
def test_without_ties_and_zeros_it_is_scipys(differences: list[float]) -> None:
    differences = [round(each, 6) for each in differences if round(each, 6)]
    if differences:
        expected = wilcoxon(differences, alternative="greater", method="exact").pvalue
        assert signed_rank(differences).p == pytest.approx(expected)


def test_the_smallest_p_is_that_of_all_signs_alike() -> None:
    for n in (1, 3, 6, 30):
        test = signed_rank([float(number) for number in range(1, n + 1)])
        assert test.p == pytest.approx(test.smallest_p) == 0.5**n


def test_ties_and_zeros_are_counted() -> None:
    test = signed_rank([0.0, 0.5, -0.5, 1.0, 2.0, 2.0, 2.0000000001])
    assert (test.n, test.zeros, test.ties) == (6, 1, 5)


def test_no_difference_at_all_proves_nothing() -> None:
    test = signed_rank([0.0, 0.0])
    assert (test.p, test.n, test.effect) == (1.0, 0, 0.0)


@pytest.mark.parametrize(("differences", "effect"), [([1, 2, 3], 1.0), ([-1, -2, -3], -1.0), ([3, -1, -2], 0.0)])
def test_the_effect_is_the_balance_of_ranks(differences: list[float], effect: float) -> None:
    assert signed_rank(differences).effect == pytest.approx(effect)


def counted(pairs: int, short_by: int) -> Fraction:
    """The same without ties, in whole numbers of any size: ways of choosing negative ranks with at most this sum."""
    ways = [1] + [0] * short_by
    for rank in range(1, pairs + 1):
        for total in range(short_by, rank - 1, -1):
            ways[total] += ways[total - rank]
    return Fraction(sum(ways), 2**pairs)


def ranks_of(pairs: int, kind: str) -> np.ndarray:
    sizes = np.random.default_rng(0).integers(1, 20, pairs) if kind == "ties" else np.arange(pairs)
    return np.full(pairs, 1.5) if kind == "alike" else rankdata(sizes)


@pytest.mark.parametrize("kind", ["plain", "ties", "alike"])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.51, 0.6, 0.75, 0.9, 0.98, 1.0])
def test_beyond_the_exact_ones_p_is_good_to_one_percent_in_the_far_tail_too(kind: str, share: float) -> None:
    ranks = ranks_of(301, kind)
    unit = unit_of(ranks)
    positive = round(share * ranks.sum() / unit) * unit
    exact = exact_tail(ranks, positive)
    assert saddlepoint_tail(ranks, positive) == pytest.approx(exact, rel=0.01, abs=0)


@pytest.mark.parametrize("short_by", [0, 1000, 15_000])
def test_the_p_of_301_pairs_is_that_of_whole_numbers(short_by: int) -> None:
    ranks, expected = np.arange(1.0, 302.0), float(counted(301, short_by))
    assert exact_tail(ranks, ranks.sum() - short_by) == pytest.approx(expected, rel=1e-9, abs=0)
    assert saddlepoint_tail(ranks, ranks.sum() - short_by) == pytest.approx(expected, rel=0.01, abs=0)


def test_for_very_many_pairs_the_approximation_takes_over() -> None:
    differences = [float(each) for each in range(1, 1001)]
    assert signed_rank(differences[:301]).p == pytest.approx(0.5**301, rel=1e-9, abs=0)
    assert signed_rank(differences).method == "exact"
    more = signed_rank([*differences, -1001.0])
    assert more.method == "saddlepoint"
    assert 0 < more.p < 1e-200


def test_what_is_not_finite_is_an_error() -> None:
    with pytest.raises(ValueError, match="must be finite"):
        signed_rank([1.0, float("nan")])


def test_the_papers_convention_is_that_of_an_old_scipy() -> None:
    assert paper_p([0.0, -0.21, 0.0]) == pytest.approx(0.8413, abs=5e-5)  # paper, CIFAR-100: "not reliable"
    assert paper_p([1.0, 2.0, 3.0]) == 0.125
    assert paper_p([0.0, 0.0]) == 1.0
    assert paper_p([float(each) for each in range(1, 27)]) == pytest.approx(4.15e-6, rel=0.01)  # normal beyond 25
