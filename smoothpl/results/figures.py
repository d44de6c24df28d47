"""The charts of a report: errors, gains, curves, sweeps, numbers of labels and confusion."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from smoothpl.plots.confusion import MOST_NAMES, draw_confusion, row_shares
from smoothpl.results.chart import INK, Chart, draw
from smoothpl.results.pairing import Row, key_names
from smoothpl.results.tables import Table, grown_chains, label_chains

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""The palette of Okabe and Ito, which colour-blind people can tell apart."""
MARKERS = "osD^vP"
MOST_LINES = 6
MOST_TICKS = 20
Lines = Mapping[str, Sequence[tuple[float, float]]]


def table_charts(table: Table) -> Iterator[Chart]:
    rows = table.rows[:MOST_LINES]
    among = f" The first {MOST_LINES} of {len(table.rows)} recipes." if len(table.rows) > MOST_LINES else ""
    if 1 < len(table.keys) <= 40:
        yield draw("Error of every run, %." + among, describe_errors(rows), lambda axes: paint_folds(axes, rows, table))
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
        )
    for sweep in table.sweeps:
        lines = {
            str(course): [(value, line.rows[value].spread.mean) for value in sorted(line.rows)]
            for course, line in sweep.lines.items()
        }
        yield draw(
            f"Error against {sweep.knob}, %.",
            describe_lines(lines),
            partial(paint_sweep, knob=sweep.knob, lines=lines),
        )
    for row in rows:
        if any(len(run.confusion) for run in row.runs.values()):
            yield confusion_chart(row)


def describe_errors(rows: Sequence[Row]) -> str:
    return "; ".join(f"{row.label}: " + ", ".join(f"{error:.2f}" for error in row.errors.values()) for row in rows)


def describe_gains(rows: Sequence[Row]) -> str:
    found = [(row.label, row.comparison.gains) for row in rows if row.comparison is not None]
    return "; ".join(f"{label}: " + ", ".join(f"{gain:z.2f}" for gain in gains[:40]) for label, gains in found)


def paint_folds(axes: Axes, rows: Sequence[Row], table: Table) -> None:
    keys = table.keys
    for number, row in enumerate(rows):
        points = [(keys.index(key), error) for key, error in row.errors.items()]
        axes.plot(*zip(*points, strict=True), **look(number), label=row.label)
    axes.set_xticks(range(len(keys)), key_names(keys), rotation=0 if len(keys) <= 8 else 90)
    axes.set(xlabel="fold" if len({key.seed for key in keys}) == 1 else "fold/seed", ylabel="error, %")
    from_zero(axes)
    axes.legend()


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
    for number, row in enumerate(rows):
        by_step: dict[int, list[float]] = defaultdict(list)
        for run in row.runs.values():
            for step, error in zip(run.steps, run.errors, strict=True):
                by_step[step].append(error)
        steps = sorted(by_step)
        if steps:
            mean = [float(np.mean(by_step[step])) for step in steps]
            axes.plot(steps, mean, color=COLOURS[number], label=row.label)
            axes.fill_between(
                steps,
                [min(by_step[step]) for step in steps],
                [max(by_step[step]) for step in steps],
                color=COLOURS[number],
                alpha=0.15,
                linewidth=0,
            )
    axes.set(xlabel="step", ylabel="error, %")
    from_zero(axes)
    axes.legend()


def describe_lines(lines: Lines) -> str:
    return "; ".join(f"{name}: " + ", ".join(f"{x:g} {y:.2f}" for x, y in points) for name, points in lines.items())


def paint_sweep(axes: Axes, knob: str, lines: Lines) -> None:
    values = sorted({value for points in lines.values() for value, _ in points})
    for number, (name, points) in enumerate(list(lines.items())[:MOST_LINES]):
        places = [(values.index(value) if knob == "seed" else value, error) for value, error in points]
        axes.plot(*zip(*places, strict=True), **look(number), label=name)
    if knob == "seed":  # a name, not a quantity
        axes.set_xticks(range(len(values)), [f"{value:g}" for value in values])
    if knob == "labels" and len(values) <= MOST_TICKS:
        axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set(xlabel=knob, ylabel="error, %")
    axes.legend()


def label_charts(tables: list[Table]) -> Iterator[Chart]:
    """Error against the number of labels: a line for every recipe that was run with several numbers."""
    places: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(dict)
    for chain in (*label_chains(tables), *grown_chains(tables)):
        place, row = chain[-1]
        name = row.label_without("num_labels")  # that of a continued run names the labels before
        places[f"{place.benchmark}, {place.split}"][name] = [(at.num_labels, each.spread.mean) for at, each in chain]
    for name, lines in places.items():
        yield draw(
            f"{name}: mean error against the number of labels, %.",
            describe_lines(lines),
            partial(paint_sweep, knob="labels", lines=lines),
        )


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
    caption = f"{row.label}: true against predicted class{mean}."
    caption += f" Collapsed (✗): {counted}." if collapsed else " No class has collapsed."
    accuracy = ", ".join(f"{name} {100 * share:.0f} %" for name, share in zip(names, shares.diagonal(), strict=True))
    description = f"Recognised: {accuracy}." if len(names) <= MOST_NAMES else ""
    return draw(caption, description, lambda axes: draw_confusion(axes, shares, names, collapsed), (4.6, 3.6))


def from_zero(axes: Axes) -> None:
    """Starts the axis at zero, unless that would squeeze everything into its upper half."""
    low, high = axes.get_ylim()
    if low < high / 2:
        axes.set_ylim(bottom=0)


def look(number: int) -> dict[str, Any]:
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)], "markersize": 5}
