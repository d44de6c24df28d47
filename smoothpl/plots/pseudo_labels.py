"""Pseudo-labels, drawn with the views that they belong to."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from smoothpl.plots.style import PLAIN


class Example(NamedTuple):
    """An unlabeled image as it was seen in a step, and its pseudo-label."""

    views: Tensor  # (1 or 2, channels, height, width): weak, strong
    label: str
    confidence: float
    weight: float
    truth: str | None  # None: not known


VIEWS = ("weak", "strong")


@rc_context(PLAIN)
def pseudo_label_figure(rows: dict[str, list[Example]], title: str) -> Figure:
    """Weak views above strong ones, for each kind of example; a wrong label is shown with the true one."""
    columns = max(map(len, rows.values()))
    num_views = max(len(example.views) for examples in rows.values() for example in examples)
    size = (max(4.4, 1.1 * columns + 0.8), (1.1 * num_views + 0.6) * len(rows) + 0.3)
    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(title, fontsize="medium")
    for part, (name, examples) in zip(figure.subfigures(len(rows), squeeze=False)[:, 0], rows.items(), strict=True):
        part.supylabel(name, fontsize="medium")
        grid = part.subplots(num_views, columns, squeeze=False)
        for column, axes in enumerate(grid.T):
            draw_example(axes, examples[column] if column < len(examples) else None)
        for axes, view in zip(grid[:, 0], VIEWS, strict=False):
            axes.set_ylabel(view, fontsize="small")
    return figure


def draw_example(places: Sequence[Axes], example: Example | None) -> None:
    """A view in each place, the label above the first."""
    for axes in places:
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    if example is None:
        return
    for axes, view in zip(places, example.views, strict=False):
        pixels = view.permute(1, 2, 0).numpy()
        axes.imshow(pixels, vmin=0, vmax=1, cmap="gray")  # the colours are for images of one channel
    is_wrong = example.truth not in (None, example.label)
    label = f"{example.label}{f', not {example.truth}' if is_wrong else ''}"
    numbers = f"{example.confidence:.2f}, {example.weight:.2f}"
    places[0].set_title(f"{label}\n{numbers}", fontsize="x-small", color="C3" if is_wrong else "black")
