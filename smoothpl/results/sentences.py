"""The comparisons of a table in sentences: wins, losses, level pairs, p and the mean gain."""

from smoothpl.results.comparison import Comparison
from smoothpl.results.pairing import Row, gains_over
from smoothpl.results.sheets import format_p
from smoothpl.results.tables import Table
from smoothpl.results.unlabeled import of_runs

SIGNIFICANT = 0.05


def sentences(table: Table) -> list[str]:
    compared = [
        sentence(row, row.partner, row.comparison)
        for row in table.rows
        if row.partner is not None and row.comparison is not None
    ]
    return compared + [said for row in table.rows for said in on_unlabeled_images(row)]


def on_unlabeled_images(row: Row) -> list[str]:
    """What the runs of a recipe found when they were compared with their twins."""
    verdicts = [run.verdict for run in row.runs.values() if run.verdict is not None]
    replaced = sum(not run.is_handed_over for run in row.runs.values())
    return [of_runs(row.label, verdicts, replaced)] if verdicts else []


def sentence(row: Row, partner: Row, comparison: Comparison) -> str:
    """Who wins, and how surely; p is always that of the recipe being better than its partner, whoever wins."""
    score = describe_score(row, partner, comparison)
    if comparison.test.n == 0:
        return f"{score}."
    p, gain = f"p = {format_p(comparison.p)}", f"mean gain {comparison.spread.mean:z.2f} points"
    limits = describe_limits(comparison, row.p_holm)
    if comparison.wins <= comparison.losses:
        return f"{score}; one-sided test of {row.label} being better: {p}, {gain}.{limits}"
    if comparison.is_smallest_p:
        p += f", the smallest possible with {count(comparison.test.n, 'pair')}"
    return f"{score}, {p}; {gain}.{limits}"


def describe_score(row: Row, partner: Row, comparison: Comparison) -> str:
    wins, losses, level = comparison.wins, comparison.losses, comparison.test.zeros
    seeds = {key.seed for key in gains_over(row, partner, [])}
    pairs = count(comparison.spread.n, "fold" if len(seeds) == 1 else "run")
    if level == comparison.spread.n:
        return f"{row.label} and {partner.label} are level on {pairs}"
    others = f", level on {level}" if level else ""
    if wins == losses:
        return f"{row.label} and {partner.label} win {wins} of {pairs} each{others}"
    winner, loser = (row, partner) if wins > losses else (partner, row)
    others = (f", loses on {min(wins, losses)}" if min(wins, losses) else "") + others
    return f"{winner.label} beats {loser.label} on {max(wins, losses)} of {pairs}{others}"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def describe_limits(comparison: Comparison, p_holm: float | None) -> str:
    """Why p is not significant, where that is not due to the errors alone."""
    if 0.5**comparison.spread.n > SIGNIFICANT:
        return f" So few pairs cannot give p < {SIGNIFICANT}, whatever the errors are."
    if comparison.p < SIGNIFICANT and p_holm is not None and p_holm >= SIGNIFICANT:
        return f" Corrected for all recipes of the table (Holm), p = {format_p(p_holm)}: not significant."
    return ""
