"""The section of a report that computes the paper's figures again."""

from collections.abc import Sequence
from dataclasses import replace

from smoothpl.paper.recompute import PublishedFigure, of_random_labels, of_runs
from smoothpl.results.report import Section
from smoothpl.results.sheets import Cell, Column, Sheet


def paper_section() -> Section:
    """What follows from the printed errors, and what can only be checked for being possible."""
    recomputed, plausible = of_runs(), of_random_labels()
    same, possible = (sum(each.agrees for each in several) for several in (recomputed, plausible))
    sentences = [
        f"{same} of {len(recomputed)} published figures follow from the errors that the paper prints.",
        f"For random labels the paper prints no folds: {possible} of {len(plausible)} figures are at least possible, "
        "gains as differences of printed means, p-values as values that six pairs can give.",
    ]
    return Section("The paper, computed again", sentences, [paper_sheet([*recomputed, *plausible])])


def paper_sheet(figures: Sequence[PublishedFigure]) -> Sheet:
    columns = [Column(name, is_number=False) for name in ("table", "method", "figure")]
    columns += [Column("published"), Column("again"), Column("same", is_number=False)]
    columns += [Column("remark", is_number=False)]
    rows = [[*figure_cells(each), Cell(each.remark)] for each in figures]
    sheet = Sheet("The paper's figures, computed again from its own errors", columns, rows)
    return replace(sheet, abridged=abridge(sheet, figures))


def figure_cells(figure: PublishedFigure) -> list[Cell]:
    return [
        Cell(figure.table),
        Cell(figure.method),
        Cell(figure.quantity.replace("_", " ")),
        Cell(figure.published, float(figure.published)),
        Cell(format_recomputed(figure), figure.recomputed),
        Cell("yes" if figure.agrees else "no"),
    ]


def format_recomputed(figure: PublishedFigure) -> str:
    if figure.quantity in ("p", "drop_p"):
        return f"{figure.recomputed:.6g}" if figure.recomputed > 0.001 else f"{figure.recomputed:.3g}"
    return f"{figure.recomputed:.{len(figure.published.partition('.')[2])}f}"


def abridge(sheet: Sheet, figures: Sequence[PublishedFigure]) -> Sheet:
    """The figures that differ or have a remark, with the remarks below the table."""
    shown = [each for each in figures if each.remark or not each.agrees]
    numbers = {remark: number for number, remark in enumerate(dict.fromkeys(each.remark for each in shown), start=1)}
    rows = [[*figure_cells(each), Cell(f"({numbers[each.remark]})")] for each in shown]
    notes = [f"({number}) {remark}." for remark, number in numbers.items()]
    return replace(sheet, rows=rows, notes=[*notes, *sheet.notes])
