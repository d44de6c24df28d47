import pytest

from smoothpl.results.sheets import format_p, number, plus_minus


@pytest.mark.parametrize("value", [0.0, -0.0, -0.001, 0.001])
def test_nothing_is_never_less_than_nothing(value: float) -> None:
    assert number(value).text == "0.00"
    assert plus_minus(value, 1.0).text == "0.00 ± 1.00"


def test_what_is_not_known_is_a_dash() -> None:
    assert number(None).text == format_p(None) == "-"


def test_small_p_values_keep_their_digits() -> None:
    written = {1.0: "1", 0.015625: "0.0156", 0.0009765625: "0.000977", 4.3548e-5: "4.35e-05", None: "-"}
    assert {p: format_p(p) for p in written} == written
