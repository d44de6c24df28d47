import pytest
from hypothesis import given
from hypothesis import strategies as st

from smoothpl.results.comparison import compare, holm, interval_of_mean, spread


def test_a_spread_is_of_the_population() -> None:
    found = spread([1.0, 2.0, 6.0])
    assert (found.n, found.mean, found.max, found.min, found.range) == (3, 3.0, 6.0, 1.0, 5.0)
    assert found.std == pytest.approx((14 / 3) ** 0.5)


def test_a_comparison_counts_wins_and_losses() -> None:
    found = compare([1.0, 2.0, -0.5, 0.0])
    assert (found.wins, found.losses, found.test.zeros) == (2, 1, 1)
    assert found.spread.mean == 0.625
    assert not found.is_smallest_p
    assert compare([1.0, 2.0, 0.5]).is_smallest_p


@pytest.mark.parametrize(("statistics", "p"), [("exact", 1.0), ("pratt", 1.0), ("paper", 0.8413447)])
def test_the_convention_can_be_chosen(statistics: str, p: float) -> None:
    assert compare([0.0, -0.21, 0.0], statistics).p == pytest.approx(p)  # type: ignore[arg-type]


def test_an_interval_holds_the_mean_and_is_always_the_same() -> None:
    numbers = [0.4, 1.2, -0.3, 2.2, 0.9, 1.0]
    low, high = interval_of_mean(numbers)  # type: ignore[misc]
    assert min(numbers) < low < sum(numbers) / 6 < high < max(numbers)
    assert interval_of_mean(numbers) == (low, high)
    assert interval_of_mean([1.0]) is None
    assert interval_of_mean([2.0, 2.0]) == (2.0, 2.0)


def test_holm_is_what_holm_wrote() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_makes_anything_more_significant_and_keeps_the_order(p_values: list[float]) -> None:
    corrected = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, corrected, strict=True))
    pairs = sorted(zip(p_values, corrected, strict=True))
    assert [q for _, q in pairs] == sorted(q for _, q in pairs)
