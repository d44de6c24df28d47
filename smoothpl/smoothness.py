"""python -m smoothpl.smoothness: what the paper's title means, as a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from smoothpl.cli.arguments import read_words
from smoothpl.cli.front_door import run_command
from smoothpl.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

USAGE = """python -m smoothpl.smoothness [threshold=0.75] [out=smoothness.png]

Draws the loss that Pseudo-Labeling and Smooth Pseudo-Labeling minimise, over
the confidence in the dominant class, with its derivative: one jumps at the
threshold, the other does not (the paper's first figure). Beside them the
shapes of the weight for thresholds of 0.82, 0.91 and 0.95."""
THRESHOLDS = (0.82, 0.91, 0.95)
SHAPES = {"sqrt": 0.5, "linear": 1.0, "square": 2.0}


def main() -> None:
    arguments, words = read_words(USAGE, "threshold", "out")
    if arguments:
        raise ConfigError(f"{arguments[0]} has no effect here; known are threshold and out.")
    threshold, out = words.get("threshold", "0.75"), Path(words.get("out", "smoothness.png"))
    try:
        value = float(threshold)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise ConfigError(f"threshold={threshold} must lie strictly between 0 and 1; the paper's figure has 0.75.")
    draw(value, out)
    Console().print(f"picture: {out}", soft_wrap=True, highlight=False)


def draw(threshold: float, out: Path) -> None:
    import torch
    from matplotlib.figure import Figure

    from smoothpl.pseudo import Power

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


def losses(confidence: "Tensor", threshold: float, smooth: bool) -> Any:
    """What is minimised, and its derivative: that of -weight log(confidence), the weight held still."""
    import torch

    from smoothpl.losses import smooth_pseudo_label_potential
    from smoothpl.pseudo import Power, Step

    tau = torch.full_like(confidence, threshold)
    shape = Power() if smooth else Step()
    loss = -smooth_pseudo_label_potential(confidence, threshold) if smooth else -torch.maximum(confidence, tau).log()
    return loss, -shape(confidence, tau) / confidence


if __name__ == "__main__":
    run_command(main)
