"""A contact sheet: images as they are read, and their weak and strong views."""

from pathlib import Path

import torch
from matplotlib.figure import Figure  # not pyplot: nothing to open, nothing to close
from torchvision.utils import make_grid

from smoothpl.data import RawStep, Views

COLUMNS = 12


def draw(step: RawStep, views: Views, out: Path) -> None:
    """Draws the first unlabeled images of a step."""
    columns = min(COLUMNS, len(step.unlabeled))
    rows = {"read": step.unlabeled, "weak": views.weak(step.unlabeled, step.weak_plan)}
    if step.strong_plan is not None:
        rows["strong"] = views.strong(step.of_strong, step.strong_plan)
    figure = Figure(figsize=(columns, 3.4 / 3 * len(rows)), layout="constrained")
    for axes, (name, images) in zip(figure.subplots(len(rows), 1), rows.items(), strict=True):
        pixels = images[:columns] / 255 if images.dtype == torch.uint8 else images[:columns]
        axes.imshow(make_grid(pixels, nrow=columns, pad_value=1).permute(1, 2, 0).numpy())
        axes.set(ylabel=name, xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=100)
