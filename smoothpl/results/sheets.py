"""Sheets: tables of a report, before it is known where they will be read."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Cell(NamedTuple):
    text: str
    value: float | None = None  # to sort by
    std: float | None = None  # where the value is a mean
    is_best: bool = False
    link: str | None = None  # a directory


class Column(NamedTuple):
    name: str
    is_number: bool = True
    spare: int = 0  # the higher, the sooner it is left out where there is little room


@dataclass
class Sheet:
    title: str
    columns: list[Column]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)
    abridged: "Sheet | None" = None  # for a terminal, where the whole would be too long


def number(value: float | None, form: str = "z.2f", is_best: bool = False) -> Cell:
    return Cell("-") if value is None else Cell(format(value, form), value, is_best=is_best)


def plus_minus(mean: float, std: float, is_best: bool = False) -> Cell:
    return Cell(f"{mean:z.2f} ± {std:.2f}", mean, std, is_best)


def p_cell(p: float | None) -> Cell:
    return Cell(format_p(p), p)


def format_p(p: float | None) -> str:
    if p is None:
        return "-"
    return f"{p:.3g}" if p >= 0.0001 else f"{p:.2e}"
