"""A line of the table: something measured, its reference in the same run, and what should come out."""

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

from smoothpl.record.versions import current_commit


class Line(NamedTuple):
    """`at_most` and `at_least` are of the ratio; `limit` is of the measured value itself, where no ratio would do."""

    what: str
    ours: float
    reference: float | None
    unit: str
    against: str
    at_most: float | None = None
    at_least: float | None = None
    limit: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times as much as the reference; of what should be faster, how many times as fast."""
        if not self.reference:
            return None
        return self.reference / self.ours if self.at_least is not None else self.ours / self.reference

    @property
    def target(self) -> str:
        if self.limit is not None:
            return f"≤ {self.limit:g} {self.unit}"
        if self.at_most is not None:
            return f"≤ {self.at_most:g}"
        return "" if self.at_least is None else f"≥ {self.at_least:g}"

    @property
    def holds(self) -> bool | None:
        if self.limit is not None:
            return self.ours <= self.limit
        if self.ratio is None or (self.at_most is None and self.at_least is None):
            return None
        return self.ratio <= self.at_most if self.at_most is not None else self.ratio >= (self.at_least or 0)


def tabulate(lines: Iterable[Line], before: dict[str, float] | None = None) -> Table:
    """With the ratios of an earlier table beside them, if there is one."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("what", overflow="fold", ratio=3)
    table.add_column("against", overflow="fold", ratio=2)
    for name in ("this", "that", "ratio", "target", *(["before"] if before else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for line in lines:
        colour = {True: "green", False: "bold red", None: ""}[line.holds]
        shown = "-" if line.ratio is None else f"{line.ratio:.3g}"
        cells = [line.what, line.against, measure(line.ours, line.unit), measure(line.reference, line.unit)]
        cells += [f"[{colour}]{text}[/]" if colour else text for text in (shown, line.target)]
        if before:
            cells.append(f"{before[line.what]:.3g}" if line.what in before else "-")
        table.add_row(*cells)
    return table


def measure(value: float | None, unit: str) -> str:
    return "" if value is None else (f"{value:.3g} {unit}" if value < 1000 else f"{value:,.0f} {unit}").strip()


def show(lines: Iterable[Line]) -> None:
    Console().print(tabulate(lines))


def to_markdown(lines: Iterable[Line]) -> str:
    rows = ["| what | this | against | ratio | target | met |", "| --- | ---: | --- | ---: | ---: | --- |"]
    for line in lines:
        against = f"{measure(line.reference, line.unit)}: {line.against}" if line.reference is not None else ""
        met = {True: "yes", False: "**no**", None: ""}[line.holds]
        shown = "" if line.ratio is None else f"{line.ratio:.3g}"
        cells = [line.what, measure(line.ours, line.unit), against, shown, line.target, met]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def to_json(lines: list[Line], machine: dict[str, Any]) -> dict[str, Any]:
    described = [line._asdict() | {"ratio": line.ratio, "holds": line.holds} for line in lines]
    now = time.strftime("%Y-%m-%d %H:%M:%S")
    return {"time": now, "commit": current_commit(), "machine": machine, "lines": described}


def ratios(path: Path) -> dict[str, float]:
    lines = json.loads(path.read_text())["lines"]
    return {line["what"]: line["ratio"] for line in lines if line["ratio"] is not None}
