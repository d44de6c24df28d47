"""The report's pictures, as SVG that follows the colours of the page it stands in."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from smoothpl.results.pairing import Row
from smoothpl.results.sheets import names_of
from smoothpl.results.tables import Table, grown_chains, label_chains

INK = "#0a0b0c"
"""Stands for the colour of the page's text."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe's and Ito's: told apart by the colour-blind."""
MARKERS = "osD^vP"
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and selected
    "svg.hashsalt": "smoothpl",  # the same picture, the same text
    "font.family": "sans-serif",
    "font.size": 9,
    "text.parse_math": False,  # a dollar in a name is a dollar
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}
MOST_LINES = 6
MOST_NAMES = 20


class Drawing(NamedTuple):
    """A picture, and what it shows in words, for those who cannot see it."""

    caption: str
    words: str
    svg: str

    @property
    def file_name(self) -> str:
        mark = hashlib.sha256(self.svg.encode()).hexdigest()[:8]  # captions are not unique
        return f"{re.sub(r'[^a-z0-9]+', '_', self.caption.lower())[:40].strip('_')}_{mark}.svg"

    @property
    def alone(self) -> str:
        """For a file of its own, which has no page around it to take colours from."""
        return self.svg.replace("currentColor", "#222").replace("<svg ", '<svg style="background: white" ', 1)


def draw(caption: str, words: str, paint: Any, size: tuple[float, float] = (6.4, 3.2)) -> Drawing:
    with rc_context(STYLE):
        picture = Picture(figsize=size, layout="constrained")
        axes = picture.subplots()
        paint(axes)
        text = StringIO()
        picture.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r' id="[A-Za-z][A-Za-z0-9.]*_\d+"', "", svg)  # of groups, to which nobody refers
    mark = hashlib.sha256((caption + words + svg).encode()).hexdigest()[
        :8
    ]  # so that no two pictures of a page share an id
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{mark}", svg)
    svg = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', 'role="img" aria-hidden="true"', svg, count=1)
    return Drawing(caption, words, re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL))


def of_table(table: Table) -> Iterator[Drawing]:
    rows = table.rows[:MOST_LINES]
    among = f" The first {MOST_LINES} of {len(table.rows)} recipes." if len(table.rows) > MOST_LINES else ""
    if 1 < len(table.keys) <= 40:
        yield draw("Error of every run, %." + among, words_of_errors(rows), lambda axes: paint_folds(axes, rows, table))
    compared = [row for row in table.rows if row.comparison is not None][: 2 * MOST_LINES]
    if compared:
        yield draw(
            f"Gain over {table.baseline}, points: every pair, the mean and its 95 % interval; above zero is better.",
            words_of_gains(compared),
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
            "; ".join(f"{name}: " + ", ".join(f"{x:g} {y:.2f}" for x, y in points) for name, points in lines.items()),
            lambda axes, knob=sweep.knob, lines=lines: paint_sweep(axes, knob, lines),
        )
    for row in rows:
        if any(len(run.confusion) for run in row.runs.values()):
            yield confusion(row)


def words_of_errors(rows: Sequence[Row]) -> str:
    return "; ".join(f"{row.label}: " + ", ".join(f"{error:.2f}" for error in row.errors.values()) for row in rows)


def words_of_gains(rows: Sequence[Row]) -> str:
    found = [(row.label, row.comparison.gains) for row in rows if row.comparison is not None]
    return "; ".join(f"{label}: " + ", ".join(f"{gain:z.2f}" for gain in gains[:40]) for label, gains in found)


def paint_folds(axes: Axes, rows: Sequence[Row], table: Table) -> None:
    keys = table.keys
    for number, row in enumerate(rows):
        points = [(keys.index(key), error) for key, error in row.errors.items()]
        axes.plot(*zip(*points, strict=True), **look(number), label=row.label)
    axes.set_xticks(range(len(keys)), names_of(keys), rotation=0 if len(keys) <= 8 else 90)
    axes.set(xlabel="fold", ylabel="error, %")
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


Lines = dict[str, list[tuple[float, float]]]


def paint_sweep(axes: Axes, knob: str, lines: Lines) -> None:
    values = sorted({value for points in lines.values() for value, _ in points})
    for number, (name, points) in enumerate(list(lines.items())[:MOST_LINES]):
        places = [(values.index(value) if knob == "seed" else value, error) for value, error in points]
        axes.plot(*zip(*places, strict=True), **look(number), label=name)
    if knob == "seed":  # a name, not a quantity
        axes.set_xticks(range(len(values)), [f"{value:g}" for value in values])
    if knob == "labels" and len(values) <= MOST_NAMES:
        axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set(xlabel=knob, ylabel="error, %")
    axes.legend()


def label_figures(tables: list[Table]) -> Iterator[Drawing]:
    """Error against the number of labels: a line for every recipe that was run with several."""
    lines: dict[str, Lines] = defaultdict(dict)
    for chain in (*label_chains(tables), *grown_chains(tables)):
        place, row = chain[-1]
        name = row.label_without("num_labels")  # that of a run that went on tells of the labels before
        lines[f"{place.benchmark}, {place.split}"][name] = [(at.num_labels, each.spread.mean) for at, each in chain]
    for name, several in lines.items():
        told = [f"{line}: " + ", ".join(f"{x:g} {y:.2f}" for x, y in points) for line, points in several.items()]
        yield draw(
            f"{name}: mean error against the number of labels, %.",
            "; ".join(told),
            lambda axes, several=several: paint_sweep(axes, "labels", several),
        )


def confusion(row: Row) -> Drawing:
    """The mean of the row-normalised matrices of all runs; how often a class collapsed is written beside it."""
    runs = [run for run in row.runs.values() if len(run.confusion)]
    names = runs[0].class_names
    size = len(names)
    counts = np.array([run.confusion for run in runs], dtype=float).reshape(-1, size, size)
    shares = (counts / np.maximum(counts.sum(axis=2, keepdims=True), 1)).mean(axis=0)
    collapsed = {number: sum(number in run.collapsed for run in runs) for number in range(size)}
    gone = {names[number]: times for number, times in collapsed.items() if times}
    told = ", ".join(f"{name} in {times} of {len(runs)} runs" for name, times in gone.items())

    def paint(axes: Axes) -> None:
        image = axes.imshow(shares, vmin=0, vmax=1, cmap="cividis")
        axes.figure.colorbar(image, ax=axes, label="share of the true class")
        if size <= MOST_NAMES:
            marked = [f"{name} ✗" if collapsed[number] else name for number, name in enumerate(names)]
            axes.set_xticks(range(size), marked, rotation=90)
            axes.set_yticks(range(size), names)
        axes.set(xlabel="predicted", ylabel="true")

    caption = f"{row.label}: true against predicted class, mean of {len(runs)} runs."
    caption += f" Collapsed (✗): {told}." if gone else " No class has collapsed."
    accuracy = ", ".join(f"{name} {100 * share:.0f} %" for name, share in zip(names, shares.diagonal(), strict=True))
    return draw(caption, f"Recognised: {accuracy}." if size <= MOST_NAMES else "", paint, (4.6, 3.6))


def from_zero(axes: Axes) -> None:
    """Unless that would press everything together at the top."""
    low, high = axes.get_ylim()
    if low < high / 2:
        axes.set_ylim(bottom=0)


def look(number: int) -> dict[str, Any]:
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)], "markersize": 5}
