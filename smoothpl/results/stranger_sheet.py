"""How well methods tell strangers apart, where some of the unlabeled images show classes without labels."""

from smoothpl.results.comparison import spread
from smoothpl.results.sheets import Cell, Column, Sheet, plus_minus
from smoothpl.results.tables import Table

NOTE = (
    "Strangers show classes that have no labels. Not taught: the share of them without a pseudo-label that counts; "
    "known images taught: that of the others with one. Both are of the last steps of a run."
)


def stranger_sheet(table: Table) -> Sheet | None:
    """None where there are no strangers, or no pseudo-labels."""
    rows = []
    for row in table.rows:
        told = [run.told_apart for run in row.runs.values() if run.told_apart is not None]
        if told:
            recall, coverage = (spread([100 * each for each in shares]) for shares in zip(*told, strict=True))
            cells = [plus_minus(each.mean, each.std) for each in (recall, coverage)]
            rows.append([Cell(row.label), *cells, Cell(str(len(told)), len(told))])
    if not rows:
        return None
    names = ("strangers not taught, %", "known images taught, %", "n")
    return Sheet(f"{table.place}: strangers", [Column("recipe", is_number=False), *map(Column, names)], rows, [NOTE])
