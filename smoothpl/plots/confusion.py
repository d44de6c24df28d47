"""The confusion matrix, drawn: as a figure of its own, or into the axes of another."""

from collections.abc import Collection, Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from smoothpl.plots.style import PLAIN

MOST_NAMES = 20
"""Classes whose names fit beside the matrix."""


@rc_context(PLAIN)
def confusion_figure(confusion: list[list[int]], names: Sequence[str]) -> Figure:
    figure = Figure(figsize=(6, 5), layout="constrained")
    axes = figure.subplots()
    draw_confusion(axes, row_shares(confusion), names)
    axes.set_title("confusion")
    return figure


def draw_confusion(axes: Axes, shares: ArrayLike, names: Sequence[str], collapsed: Collection[int] = ()) -> None:
    """Shares of each true class, row by row; the columns of collapsed classes are marked."""
    image = axes.imshow(np.asarray(shares), vmin=0, vmax=1, cmap="cividis")
    axes.figure.colorbar(image, ax=axes, label="share of the true class")
    if len(names) <= MOST_NAMES:
        marked = [f"{name} ✗" if number in collapsed else name for number, name in enumerate(names)]
        axes.set_xticks(range(len(names)), marked, rotation=90)
        axes.set_yticks(range(len(names)), names)
    axes.set(xlabel="predicted", ylabel="true")


def row_shares(counts: ArrayLike) -> NDArray[np.float64]:
    """Counts (..., C, C) -> parts of the images of each true class; a class without images has zeros."""
    matrix = np.asarray(counts, dtype=float)
    return np.asarray(matrix / np.maximum(matrix.sum(axis=-1, keepdims=True), 1))
