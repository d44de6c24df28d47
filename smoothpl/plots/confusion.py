"""The confusion matrix, drawn."""

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from smoothpl.plots.style import PLAIN

MOST_NAMES = 20


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
