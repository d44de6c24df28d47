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


BRIGHT = 0.5
"""The share from which on the colour of a cell is so bright that its number is black."""


@rc_context(PLAIN)
def confusion_figure(confusion: list[list[int]], names: Sequence[str]) -> Figure:
    figure = Figure(figsize=(6, 5), layout="constrained")
    axes = figure.subplots()
    draw_confusion(axes, row_shares(confusion), names, numbers=confusion)
    axes.set_title("confusion")
    return figure


def draw_confusion(
    axes: Axes,
    shares: ArrayLike,
    names: Sequence[str],
    collapsed: Collection[int] = (),
    numbers: ArrayLike | None = None,
    with_bar: bool = True,
) -> None:
    """Shares of each true class, row by row, with numbers in the cells; the columns of collapsed classes are marked."""
    values = np.asarray(shares)
    image = axes.imshow(values, vmin=0, vmax=1, cmap="cividis")
    if with_bar or len(names) > MOST_NAMES:
        beside = axes.inset_axes((1.03, 0, 0.05, 1))  # exactly as tall as the matrix, whatever its names leave it
        axes.figure.colorbar(image, cax=beside, label="share of the true class")
    if len(names) <= MOST_NAMES:
        marked = [f"{name} ✗" if number in collapsed else name for number, name in enumerate(names)]
        axes.set_xticks(range(len(names)), marked, rotation=90)
        axes.set_yticks(range(len(names)), names)
        if numbers is not None:
            write_numbers(axes, values, np.asarray(numbers))
    axes.set(xlabel="predicted", ylabel="true")


def write_numbers(axes: Axes, shares: NDArray[np.float64], numbers: NDArray[np.int64]) -> None:
    """A number in every cell that is not zero, as large as the cells let it be."""
    digits = len(str(numbers.max(initial=0)))
    size = min(9.0, 75 / len(numbers), 280 / (len(numbers) * digits))
    for (row, column), number in np.ndenumerate(numbers):
        if number:
            colour = "black" if shares[row, column] >= BRIGHT else "white"
            axes.text(column, row, str(number), ha="center", va="center", color=colour, fontsize=size)


def row_shares(counts: ArrayLike) -> NDArray[np.float64]:
    """Counts (..., C, C) -> parts of the images of each true class; a class without images has zeros."""
    matrix = np.asarray(counts, dtype=float)
    return np.asarray(matrix / np.maximum(matrix.sum(axis=-1, keepdims=True), 1))
