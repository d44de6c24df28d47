"""The charts of a report: errors, gains, curves, sweeps, numbers of labels and confusion."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from smoothpl.plots.confusion import MOST_NAMES, draw_confusion, row_shares
from smoothpl.plots.style import legend_above, legend_dims
from smoothpl.results.chart import INK, Chart, draw
from smoothpl.results.pairing import Row, key_names
from smoothpl.results.tables import Table, grown_chains, label_chains

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""The palette of Okabe and Ito, which colour-blind people can tell apart."""
MARKERS = "osD^vP"
MOST_LINES = 6
MOST_TICKS = 20
STYLES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1)), (0, (6, 1, 1, 1, 1, 1)))
"""Of curves, which cross too often for markers: what lies below shows through the gaps of what lies above."""
ROW_HEIGHT = 0.22
"""Inches that a row of a legend adds to a chart."""
ROOM = 0.6
"""Of the distance between two places of an axis: where the points of all recipes stand side by side."""


class Point(NamedTuple):
    """Where a line of a sweep passes: the mean error of some runs, and their deviation."""

    at: float
    mean: float
    std: float


Lines = Mapping[str, Sequence[Point]]


def table_charts(table: Table) -> Iterator[Chart]:
    rows = table.rows[:MOST_LINES]
    among = f" The first {MOST_LINES} of {len(table.rows)} recipes." if len(table.rows) > MOST_LINES else ""
    if 1 < len(table.keys) <= 40:
        yield draw(
            "Error of every run, %; at the right the mean and the standard deviation." + among,
            describe_errors(rows),
            lambda axes: paint_folds(axes, rows, table),
            size_with([row.label for row in rows]),
        )
    compared = [row for row in table.rows if row.comparison is not None][: 2 * MOST_LINES]
    if compared:
        yield draw(
            f"Gain over {table.baseline}, points: every pair, the mean and its 95 % interval; above zero is better.",
            describe_gains(compared),
            lambda axes: paint_gains(axes, compared),
            (6.4, 1.0 + 0.45 * len(compared)),
        )
    if any(len(run.steps) > 1 for row in rows for run in row.runs.values()):
        yield draw(
            "Test error while training, %: mean over the runs of a recipe, and their range." + among,
            "Curves of the mean test error over training steps.",
            lambda axes: paint_curves(axes, rows),
            size_with([row.label for row in rows]),
        )
    for sweep in table.sweeps:
        lines = {
            str(course): [point(value, line.rows[value]) for value in sorted(line.rows)]
            for course, line in sweep.lines.items()
        }
        yield sweep_chart(f"Error against {sweep.knob}, %", sweep.knob, lines)
    for row in rows:
        if any(len(run.confusion) for run in row.runs.values()):
            yield confusion_chart(row)


def describe_errors(rows: Sequence[Row]) -> str:
    return "; ".join(f"{row.label}: " + ", ".join(f"{error:.2f}" for error in row.errors.values()) for row in rows)


def describe_gains(rows: Sequence[Row]) -> str:
    found = [(row.label, row.comparison.gains) for row in rows if row.comparison is not None]
    return "; ".join(f"{label}: " + ", ".join(f"{gain:z.2f}" for gain in gains[:40]) for label, gains in found)


def size_with(labels: Sequence[str]) -> tuple[float, float]:
    """The size of a chart with a legend above it."""
    return 6.4, 3.0 + ROW_HEIGHT * legend_dims(labels)[1]


def beside(number: int, count: int) -> float:
    """How far to the side the points of one of several recipes stand, so that none hides another."""
    return ROOM * ((number + 0.5) / count - 0.5)


def paint_folds(axes: Axes, rows: Sequence[Row], table: Table) -> None:
    """A point for every run: folds have no order that a line could follow."""
    keys = table.keys
    for number, row in enumerate(rows):
        aside = beside(number, len(rows))
        axes.plot(
            [keys.index(key) + aside for key in row.errors],
            [*row.errors.values()],
            **look(number),
            linestyle="none",
            label=row.label,
        )
        around = row.spread
        axes.errorbar(len(keys) + aside, around.mean, around.std, **look(number), elinewidth=1, capsize=3)
    axes.axvline(len(keys) - 0.5, color=INK, linewidth=0.5)
    axes.set_xticks(range(len(keys) + 1), [*key_names(keys), "mean"], rotation=0 if len(keys) <= 8 else 90)
    axes.set(xlabel="fold" if len({key.seed for key in keys}) == 1 else "fold/seed", ylabel="error, %")
    from_zero(axes)
    legend_above(axes)


def paint_gains(axes: Axes, rows: Sequence[Row]) -> None:
    axes.axvline(0, color=INK, linewidth=0.8)
    for number, row in enumerate(rows):
        assert row.comparison is not None
        height = len(rows) - 1 - number
        axes.scatter(row.comparison.gains, [height] * len(row.comparison.gains), color=COLOURS[0], alpha=0.5, s=18)
        low, high = row.comparison.interval or (row.comparison.spread.mean,) * 2
        axes.plot([low, high], [height - 0.2] * 2, color=COLOURS[1], linewidth=2)
        axes.plot(row.comparison.spread.mean, height - 0.2, marker="D", color=COLOURS[1], markersize=5)
    axes.set_yticks(range(len(rows)), [row.label for row in reversed(rows)])
    axes.set(xlabel="gain, points", ylim=(-0.6, len(rows) - 0.5))


def paint_curves(axes: Axes, rows: Sequence[Row]) -> None:
    """The first curves are the widest, so that they show below others; curves that are the same share one entry."""
    drawn: dict[Any, Any] = {}
    for number, row in enumerate(rows):
        by_step: dict[int, list[float]] = defaultdict(list)
        for run in row.runs.values():
            for step, error in zip(run.steps, run.errors, strict=True):
                by_step[step].append(error)
        steps = sorted(by_step)
        mean, low, high = ([float(f(by_step[step])) for step in steps] for f in (np.mean, min, max))
        same = (*steps, *mean, *low, *high)
        if steps and same in drawn:
            drawn[same].set_label(f"{drawn[same].get_label()} = {row.label}")
        elif steps:
            style: dict[str, Any] = {"linestyle": STYLES[number], "linewidth": 2.6 - 0.25 * number}
            (drawn[same],) = axes.plot(steps, mean, color=COLOURS[number], label=row.label, **style)
            axes.fill_between(steps, low, high, color=COLOURS[number], alpha=0.12, linewidth=0)
    axes.set(xlabel="step", ylabel="error, %")
    from_zero(axes)
    legend_above(axes)


def point(at: float, row: Row) -> Point:
    return Point(at, row.spread.mean, row.spread.std)


def describe_lines(lines: Lines) -> str:
    return "; ".join(
        f"{name}: "
        + ", ".join(f"{each.at:g} {each.mean:.2f}" + (f" ± {each.std:.2f}" if each.std else "") for each in points)
        for name, points in lines.items()
    )


def sweep_chart(caption: str, knob: str, lines: Lines) -> Chart:
    return draw(
        f"{caption}: mean and standard deviation of the runs.",
        describe_lines(lines),
        lambda axes: paint_sweep(axes, knob, lines),
        size_with([*lines]),
    )


def paint_sweep(axes: Axes, knob: str, lines: Lines) -> None:
    """A line for every recipe: its values have an order. Bars beside each other are not hidden by each other."""
    values = sorted({each.at for points in lines.values() for each in points})
    shown = list(lines.items())[:MOST_LINES]
    places = dict(zip(values, range(len(values)) if knob == "seed" else values, strict=True))
    gaps = [after - before for before, after in pairwise(places.values())]
    for number, (name, points) in enumerate(shown):
        aside = 0.5 * beside(number, len(shown)) * min(gaps, default=0)
        at = [places[each.at] + aside for each in points]
        axes.errorbar(
            at,
            [each.mean for each in points],
            [each.std for each in points],
            **look(number),
            elinewidth=1,
            capsize=2.5,
            label=name,
        )
    if knob == "seed":  # a name, not a quantity
        axes.set_xticks(range(len(values)), [f"{value:g}" for value in values])
    if knob == "labels" and len(values) <= MOST_TICKS:
        axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set(xlabel=knob, ylabel="error, %")
    from_zero(axes)
    legend_above(axes)


def label_charts(tables: list[Table]) -> Iterator[Chart]:
    """Error against the number of labels: a line for every recipe that was run with several numbers."""
    places: dict[str, dict[str, list[Point]]] = defaultdict(dict)
    for chain in (*label_chains(tables), *grown_chains(tables)):
        place, row = chain[-1]
        name = row.label_without("num_labels")  # that of a continued run names the labels before
        places[f"{place.benchmark}, {place.split}"][name] = [point(at.num_labels, each) for at, each in chain]
    for name, lines in places.items():
        yield sweep_chart(f"{name}: error against the number of labels, %", "labels", lines)


def confusion_chart(row: Row) -> Chart:
    """The mean of the row-normalised matrices of all runs; the caption says how often a class collapsed."""
    runs = [run for run in row.runs.values() if len(run.confusion)]
    names = runs[0].class_names
    counts = np.array([run.confusion for run in runs]).reshape(-1, len(names), len(names))
    shares = row_shares(counts).mean(axis=0)
    times = {number: sum(number in run.collapsed for run in runs) for number in range(len(names))}
    collapsed = {number: count for number, count in times.items() if count}
    counted = ", ".join(f"{names[number]} in {count} of {len(runs)} runs" for number, count in collapsed.items())
    mean = f", mean of {len(runs)} runs" if len(runs) > 1 else ""
    caption = f"{row.label}: true against predicted class, % of the true class{mean}."
    caption += f" Collapsed (✗): {counted}." if collapsed else " No class has collapsed."
    accuracy = ", ".join(f"{name} {100 * share:.0f} %" for name, share in zip(names, shares.diagonal(), strict=True))
    description = f"Recognised: {accuracy}." if len(names) <= MOST_NAMES else ""
    percent = (100 * shares).round().astype(int)
    side = 2.4 + 0.1 * min(len(names), MOST_NAMES)
    return draw(
        caption,
        description,
        lambda axes: draw_confusion(axes, shares, names, collapsed, percent, with_bar=False),
        (side, side),
    )._replace(is_small=True)


def from_zero(axes: Axes) -> None:
    """Starts the axis at zero, unless that would squeeze everything into its upper half."""
    low, high = axes.get_ylim()
    if low < high / 2:
        axes.set_ylim(bottom=0)


def look(number: int) -> dict[str, Any]:
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)], "markersize": 5}
