"""Pseudo-labels, drawn with the views that they belong to."""

from typing import NamedTuple

from matplotlib import rc_context
from matplotlib.figure import Figure
from torch import Tensor
from torchvision.utils import make_grid

from smoothpl.plots.style import PLAIN


class Example(NamedTuple):
    """An unlabeled image as it was seen in a step, and its pseudo-label."""

    views: Tensor  # (1 or 2, channels, height, width): weak, strong
    label: str
    confidence: float
    weight: float
    truth: str | None  # None: not known


@rc_context(PLAIN)
def pseudo_label_figure(rows: dict[str, list[Example]], title: str) -> Figure:
    """A row for each kind of example, weak views above strong ones; a wrong label is shown with the true one."""
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
            label = f"{example.label}{f', not {example.truth}' if is_wrong else ''}"
            numbers = f"{example.confidence:.2f}, {example.weight:.2f}"
            axes.set_title(f"{label}\n{numbers}", fontsize="x-small", color="C3" if is_wrong else "black")
    return figure
