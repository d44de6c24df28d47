import pytest

from benchmarks.line import Line, tabulate


@pytest.mark.parametrize(
    ("line", "ratio", "target", "holds"),
    [
        (Line("a", 2.0, 40.0, "ms", "b", at_least=20), 20, "≥ 20", True),
        (Line("a", 2.1, 40.0, "ms", "b", at_least=20), 19.05, "≥ 20", False),
        (Line("a", 1.05, 1.0, "ms", "b", at_most=1.05), 1.05, "≤ 1.05", True),
        (Line("a", 1.1, 1.0, "ms", "b", at_most=1.05), 1.1, "≤ 1.05", False),
        (Line("a", 0.4, 5.0, "ms", "b", limit=0.5), 0.08, "≤ 0.5 ms", True),
        (Line("a", 0.6, None, "ms", "", limit=0.5), None, "≤ 0.5 ms", False),
        (Line("a", 0.6, 1.0, "ms", "b"), 0.6, "", None),
    ],
)
def test_a_line_knows_whether_its_target_is_met(line: Line, ratio: float | None, target: str, holds: bool) -> None:
    assert line.ratio == (None if ratio is None else pytest.approx(ratio, rel=1e-3))
    assert (line.target, line.holds) == (target, holds)


def test_a_table_of_nothing_is_empty() -> None:
    assert tabulate([]).row_count == 0
