"""The report in sentences."""

from smoothpl.results.pairing import Row
from smoothpl.results.sheets import format_p
from smoothpl.results.tables import Table

SIGNIFICANT = 0.05


def sentences(table: Table) -> list[str]:
    return [sentence(row) for row in table.rows if row.comparison is not None]


def sentence(row: Row) -> str:
    """Says as much as the pairs do, and no more."""
    assert row.comparison is not None
    assert row.partner is not None
    comparison = row.comparison
    pairs, level = comparison.spread.n, comparison.test.zeros
    runs = "1 run" if pairs == 1 else f"{pairs} runs"
    other = row.partner.label
    if level == pairs:
        return f"{row.label} and {other} are level on {runs}."
    verb = "beats" if comparison.wins > comparison.losses else "has lower errors than"
    found = f"{row.label} {verb} {other} on {comparison.wins} of {runs}"
    found += f", higher ones on {comparison.losses}" if comparison.losses else ""
    found += f", level ones on {level}" if level else ""
    p = f"p = {format_p(comparison.p)}"
    if comparison.is_smallest_p:
        p += f", the smallest possible with {'1 pair' if comparison.test.n == 1 else f'{comparison.test.n} pairs'}"
    tail = ""
    if 0.5**pairs > SIGNIFICANT:
        tail = f" So few pairs could not have shown p < {SIGNIFICANT}, whatever came out."
    elif comparison.p < SIGNIFICANT and row.p_holm is not None and row.p_holm >= SIGNIFICANT:
        tail = f" Corrected for all recipes of the table (Holm), p = {format_p(row.p_holm)}: not significant."
    return f"{found}, {p}; mean gain {comparison.spread.mean:z.2f} points.{tail}"
