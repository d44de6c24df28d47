import pytest

from smoothpl.metrics.interval import describe_interval, interval


def test_wilson_s_interval_is_the_closed_form() -> None:
    n, p, z = 40, 3 / 40, 1.959963984540054
    middle, half = (p + z**2 / (2 * n)), z * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    assert interval(3, 40) == pytest.approx([100 * (middle + s * half) / (1 + z**2 / n) for s in (-1, 1)])


def test_no_error_is_not_no_doubt() -> None:
    assert interval(0, 10)[0] == 0
    assert describe_interval(0, 10) == "0.00 to 27.75 %"
    assert describe_interval(10, 10) == "72.25 to 100.00 %"
