"""run.png: a run at a glance, from its record and its curves."""

from math import isfinite
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from smoothpl.config.data_name import data_name
from smoothpl.layout import RUN_PICTURE
from smoothpl.plots.confusion import draw_confusion, row_shares
from smoothpl.plots.style import PLAIN, legend_above
from smoothpl.record.curves import read_curves
from smoothpl.record.record import Record

CURVES = {"train/coverage": "coverage", "train/purity": "purity", "train/weight_mean": "mean weight"}
STYLES = ("-", "--", ":")  # told apart without colours, too


def draw_run(record: Record, run_dir: Path) -> Path:
    with rc_context(PLAIN):
        figure = compose_run(record, run_dir)
        figure.savefig(run_dir / RUN_PICTURE, dpi=100)
    return run_dir / RUN_PICTURE


@rc_context(PLAIN)
def compose_run(record: Record, run_dir: Path) -> Figure:
    figure = Figure(figsize=(10, 7.5), layout="constrained")
    figure.suptitle(f"{data_name(record.config)}: {record.name}", fontsize="medium", wrap=True)
    errors, curves, confusion, reliability = figure.subplots(2, 2).flatten()
    draw_errors(errors, record)
    draw_curves(curves, read_curves(run_dir))
    draw_confusion(confusion, row_shares(record.confusion), record.class_names, numbers=record.confusion)
    confusion.set_title("confusion")
    draw_reliability(reliability, record)
    return figure


def draw_errors(axes: Axes, record: Record) -> None:
    steps = [each.step for each in record.history]
    axes.plot(steps, [each.error for each in record.history], color="C0")
    collapsed = [each for each in record.history if each.collapsed]
    if collapsed:
        places = [each.step for each in collapsed], [each.error for each in collapsed]
        axes.scatter(*places, marker="v", color="C3", zorder=3, label="with collapsed classes")
    axes.set(xlabel="step", ylabel="%")
    axes.set_ylim(0, 1.08 * max([each.error for each in record.history if isfinite(each.error)], default=100) or 1)
    legend_above(axes, f"test error, last {record.error:.2f} %")


def draw_curves(axes: Axes, rows: list[dict[str, Any]]) -> None:
    for number, (key, name) in enumerate(CURVES.items()):
        points = [(int(row["step"]) + 1, float(row[key])) for row in rows if row.get(key)]
        if points:
            axes.plot(*zip(*points, strict=True), STYLES[number], color=f"C{number}", label=name)
    axes.set(xlabel="step", ylim=(-0.02, 1.02))
    legend_above(axes, "pseudo-labels")


def draw_reliability(axes: Axes, record: Record) -> None:
    axes.plot([0, 1], [0, 1], color="0.7", zorder=0)
    most = max((number for number, _, _ in record.reliability), default=1)
    for number, confidence, accuracy in record.reliability:
        axes.scatter(confidence, accuracy, s=20 + 180 * number / most, color="C0", alpha=0.7)
    axes.set(xlabel="confidence", ylabel="accuracy", xlim=(0, 1.03), ylim=(0, 1.03))
    axes.set_title(f"reliability, error {record.calibration_error or 0:.3f}")
