"""What the paper's title means: both losses with their derivatives, and the shapes."""

from pathlib import Path

import torch
from matplotlib.figure import Figure  # not pyplot: nothing to open, nothing to close
from torch import Tensor

from smoothpl.losses import smooth_pseudo_label_potential
from smoothpl.pseudo import Power, Step

THRESHOLDS = (0.82, 0.91, 0.95)
SHAPES = {"sqrt": 0.5, "linear": 1.0, "square": 2.0}


def draw(threshold: float, out: Path) -> None:
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    confidence = torch.linspace(0.4, 1, 1201, dtype=torch.float64)
    for axes, title, (loss, slope) in (
        (left, "Pseudo-Labeling", losses(confidence, threshold, smooth=False)),
        (middle, "Smooth Pseudo-Labeling", losses(confidence, threshold, smooth=True)),
    ):
        axes.plot(confidence, loss, color="C0", label="loss")
        jump = torch.where(slope.diff().abs() > 0.5, torch.nan, 0)  # a gap, no wall, where it jumps
        axes.plot(confidence[1:], slope[1:] + jump, color="C1", linestyle="--", label="its derivative")
        axes.axvline(threshold, color="0.8", zorder=0)
        axes.set(title=title, xlabel="confidence", ylim=(-1.6, 0.6))
        axes.legend(loc="lower left")
    above = torch.linspace(0.8, 1, 801)
    for line, (name, mu) in zip(("-", "--", ":"), SHAPES.items(), strict=True):
        for number, tau in enumerate(THRESHOLDS):
            weight = Power(mu)(above, torch.full_like(above, tau))
            right.plot(above, weight, line, color=f"C{number}", label=name if number == 0 else None)
    right.set(title="weight by shape and threshold", xlabel="confidence", xticks=[*THRESHOLDS, 1])
    right.legend(loc="upper left")
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=120)


def losses(confidence: Tensor, threshold: float, smooth: bool) -> tuple[Tensor, Tensor]:
    """The loss that is minimised, and its derivative: that of -weight log(confidence) at a constant weight."""
    tau = torch.full_like(confidence, threshold)
    shape = Power() if smooth else Step()
    loss = -smooth_pseudo_label_potential(confidence, threshold) if smooth else -torch.maximum(confidence, tau).log()
    return loss, -shape(confidence, tau) / confidence
