"""What all pictures have in common: names are shown as they are, no legend hides a curve, no picture stops a run."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes

PLAIN: Any = {"text.parse_math": False}
"""Settings of Matplotlib: a dollar in the name of a class is a dollar, also when the picture is drawn."""


LETTERS = 80
"""Of a legend, in one of its rows."""
ROW = 20
"""Points that a row of a legend takes."""


def legend_above(axes: Axes, title: str | None = None) -> None:
    """Puts the legend outside, above the axes, where it cannot hide a curve, and the title above it."""
    labels = axes.get_legend_handles_labels()[1]
    columns, rows = legend_dims(labels)
    if labels:
        axes.legend(
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            borderaxespad=0.2,
            frameon=False,
            ncols=columns,
            columnspacing=1.2,
        )
    if title is not None:
        axes.set_title(title, pad=6 + ROW * rows)


def legend_dims(labels: Sequence[str]) -> tuple[int, int]:
    """Columns and rows of a legend, as many columns as its longest label lets in."""
    longest = max(map(len, labels), default=0) + 6  # the line beside it
    columns = min(max(1, LETTERS // longest), max(1, len(labels)))
    return columns, -(-len(labels) // columns)


def attempt(action: Callable[[], object]) -> None:
    """Draws a picture, or says why it cannot: no picture is worth a run."""
    try:
        action()
    except Exception as error:  # whatever it is
        sys.stderr.write(f"a picture could not be drawn ({error!r}); the run continues without it.\n")
