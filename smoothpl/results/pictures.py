"""Pictures of a run: run.png, at a glance, from its record and its curves; pseudo-labels with their views."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor
from torchvision.utils import make_grid

from smoothpl.loggers.curves import Curves
from smoothpl.results.plain import PLAIN
from smoothpl.results.record import Record

FILE_NAME = "run.png"
CURVES = {"train/coverage": "coverage", "train/purity": "purity", "train/weight_mean": "mean weight"}
STYLES = ("-", "--", ":")  # told apart without colours, too
MOST_NAMES = 20


def attempt(action: Callable[[], object]) -> None:
    """A picture is not worth a run."""
    try:
        action()
    except Exception as error:  # whatever it is
        sys.stderr.write(f"a picture could not be drawn ({error!r}); the run goes on without it.\n")


def draw_run(record: Record, run_dir: Path) -> Path:
    with rc_context(PLAIN):
        figure = compose_run(record, run_dir)
        figure.savefig(run_dir / FILE_NAME, dpi=100)
    return run_dir / FILE_NAME


@rc_context(PLAIN)
def compose_run(record: Record, run_dir: Path) -> Figure:
    figure = Figure(figsize=(10, 7.5), layout="constrained")
    figure.suptitle(f"{record.config['benchmark']}: {record.name}", fontsize="medium", wrap=True)
    errors, curves, confusion, reliability = figure.subplots(2, 2).flatten()
    draw_errors(errors, record)
    draw_curves(curves, Curves(run_dir).read())
    draw_confusion(confusion, record.confusion, record.class_names)
    draw_reliability(reliability, record)
    return figure


def draw_errors(axes: Axes, record: Record) -> None:
    steps = [each.step for each in record.history]
    axes.plot(steps, [each.error for each in record.history], color="C0")
    collapsed = [each for each in record.history if each.collapsed]
    if collapsed:
        places = [each.step for each in collapsed], [each.error for each in collapsed]
        axes.scatter(*places, marker="v", color="C3", zorder=3, label="with collapsed classes")
        axes.legend()
    axes.set(title=f"test error, last {record.error:.2f} %", xlabel="step", ylabel="%")
    axes.set_ylim(bottom=0)


def draw_curves(axes: Axes, rows: list[dict[str, Any]]) -> None:
    for number, (key, name) in enumerate(CURVES.items()):
        points = [(int(row["step"]) + 1, float(row[key])) for row in rows if row.get(key)]
        if points:
            axes.plot(*zip(*points, strict=True), STYLES[number], color=f"C{number}", label=name)
            axes.legend(loc="lower right")
    axes.set(title="pseudo-labels", xlabel="step", ylim=(0, 1.02))


@rc_context(PLAIN)
def confusion_figure(confusion: list[list[int]], names: list[str]) -> Figure:
    figure = Figure(figsize=(6, 5), layout="constrained")
    draw_confusion(figure.subplots(), confusion, names)
    return figure


def draw_confusion(axes: Axes, confusion: list[list[int]], names: list[str]) -> None:
    rows = [[count / max(sum(counts), 1) for count in counts] for counts in confusion]
    picture = axes.imshow(rows, vmin=0, vmax=1, cmap="cividis")
    axes.figure.colorbar(picture, ax=axes, label="share of the true class")
    if len(rows) <= MOST_NAMES:
        axes.set_xticks(range(len(rows)), names, rotation=90)
        axes.set_yticks(range(len(rows)), names)
    axes.set(title="confusion", xlabel="predicted", ylabel="true")


def draw_reliability(axes: Axes, record: Record) -> None:
    axes.plot([0, 1], [0, 1], color="0.7", zorder=0)
    most = max((number for number, _, _ in record.reliability), default=1)
    for number, confidence, accuracy in record.reliability:
        axes.scatter(confidence, accuracy, s=20 + 180 * number / most, color="C0", alpha=0.7)
    axes.set(xlabel="confidence", ylabel="accuracy", xlim=(0, 1.03), ylim=(0, 1.03))
    axes.set_title(f"reliability, error {record.calibration_error or 0:.3f}")


class Example(NamedTuple):
    """An unlabeled image as it was seen in a step, and what was made of it."""

    views: Tensor  # (1 or 2, channels, height, width): weak, strong
    label: str
    confidence: float
    weight: float
    truth: str | None  # None: nobody knows


@rc_context(PLAIN)
def pseudo_label_figure(rows: dict[str, list[Example]], title: str) -> Figure:
    """A row for each kind of example, weak views above strong ones. A wrong label says what would be right."""
    columns = max(map(len, rows.values()))
    num_views = max(len(example.views) for examples in rows.values() for example in examples)
    figure = Figure(figsize=(1.1 * columns + 0.4, (1.1 * num_views + 0.6) * len(rows) + 0.3), layout="constrained")
    figure.suptitle(title, fontsize="medium")
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for line, (name, examples) in zip(grid, rows.items(), strict=True):
        line[0].set_ylabel(name)
        for axes, example in zip(line, examples, strict=True):
            pixels = make_grid(example.views, nrow=1, padding=1, pad_value=1)
            axes.imshow(pixels.permute(1, 2, 0).numpy())
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_visible(False)
            is_wrong = example.truth not in (None, example.label)
            words = f"{example.label}{f', not {example.truth}' if is_wrong else ''}"
            numbers = f"{example.confidence:.2f}, {example.weight:.2f}"
            axes.set_title(f"{words}\n{numbers}", fontsize="x-small", color="C3" if is_wrong else "black")
    return figure
