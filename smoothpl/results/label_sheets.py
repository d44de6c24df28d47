"""Errors by the number of labels, a row for each number, as in the paper's table of random labels."""

from collections import defaultdict
from collections.abc import Iterator

from smoothpl.results.pairing import Row
from smoothpl.results.sheets import Cell, Column, Sheet, number, p_cell, plus_minus
from smoothpl.results.tables import Chain, Table, grown_chains, label_chains


def label_sheets(tables: list[Table]) -> Iterator[Sheet]:
    """A sheet for every benchmark and split: errors, and each recipe's gain over its partner with as many labels."""
    groups: dict[str, list[Chain]] = defaultdict(list)
    for chain in (*label_chains(tables), *grown_chains(tables)):
        place, _ = chain[-1]
        groups[f"{place.benchmark}, {place.split}"].append(chain)
    for name, chains in groups.items():
        yield label_sheet(f"{name}: error by the number of labels, %", chains)


def label_sheet(title: str, chains: list[Chain]) -> Sheet:
    lines = [{place.num_labels: row for place, row in chain} for chain in chains]
    numbers = sorted({num_labels for line in lines for num_labels in line})
    columns, rows = [Column("labels")], [[number(num_labels, "d")] for num_labels in numbers]
    for chain, line in zip(chains, lines, strict=True):
        label = chain[-1][1].label_without("num_labels")
        is_compared = any(row.comparison is not None for row in line.values())
        columns += [Column(f"{label} ± std"), *([Column("gain ± std"), Column("p")] if is_compared else [])]
        for num_labels, cells in zip(numbers, rows, strict=True):
            cells.extend(cells_of(line.get(num_labels), is_compared))
    return Sheet(title, columns, rows)


def cells_of(row: Row | None, is_compared: bool) -> Iterator[Cell]:
    yield Cell("-") if row is None else plus_minus(row.spread.mean, row.spread.std)
    comparison = None if row is None else row.comparison
    if is_compared and comparison is not None:
        yield plus_minus(comparison.spread.mean, comparison.spread.std)
        yield p_cell(comparison.p)
    elif is_compared:
        yield from [Cell("-")] * 2
