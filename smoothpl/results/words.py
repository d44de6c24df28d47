"""The report in sentences."""

from smoothpl.results.pairing import Row, Table
from smoothpl.results.sheets import format_p

SIGNIFICANT = 0.05


def sentences(table: Table) -> list[str]:
    return [sentence(row) for row in table.rows if row.comparison is not None]


def sentence(row: Row) -> str:
    """Says as much as the pairs do, and no more."""
    assert row.comparison is not None
    assert row.partner is not None
    comparison = row.comparison
    pairs = comparison.spread.n
    other = row.partner.label
    if comparison.test.n == 0:
        return f"{row.label} and {other} are level on all {pairs} runs."
    if comparison.wins == 0:
        found = f"{row.label} is never better than {other} ({pairs} {plural(pairs)})"
    else:
        found = f"{row.label} beats {other} on {comparison.wins} of {pairs} {plural(pairs)}"
    p = f"p = {format_p(comparison.p)}"
    if comparison.is_smallest_p:
        p += f", the smallest possible with {comparison.test.n} {'pair' if comparison.test.n == 1 else 'pairs'}"
    tail = ""
    if comparison.test.smallest_p > SIGNIFICANT:
        tail = f" So few pairs could not have shown p < {SIGNIFICANT}, whatever came out."
    elif comparison.p < SIGNIFICANT and row.p_holm is not None and row.p_holm >= SIGNIFICANT:
        tail = f" Corrected for all recipes of the table (Holm), p = {format_p(row.p_holm)}: not significant."
    return f"{found}, {p}; mean gain {comparison.spread.mean:.2f} points.{tail}"


def plural(runs: int) -> str:
    return "run" if runs == 1 else "runs"
