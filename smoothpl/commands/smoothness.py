"""smoothpl smoothness: draw a smooth loss beside one that jumps (paper, Figure 1)"""

from collections.abc import Sequence

from smoothpl.cli.arguments import read_options
from smoothpl.cli.messages import say
from smoothpl.cli.usage import options_of
from smoothpl.errors import ConfigError

USAGE = """smoothpl smoothness [threshold=0.75] [out=smoothness.png]

Draws the loss that Pseudo-Labeling and Smooth Pseudo-Labeling minimise, over
the confidence in the dominant class, with its derivative: one jumps at the
threshold, the other does not (the paper's first figure). Beside them the
shapes of the weight for thresholds of 0.82, 0.91 and 0.95.

  threshold=0.75       between 0 and 1
  out=smoothness.png   the picture to write"""


def main(arguments: Sequence[str]) -> None:
    typed = read_options(arguments, USAGE, *options_of(USAGE))
    threshold, out = typed.options.get("threshold", "0.75"), typed.picture("out", "smoothness.png")
    try:
        value = float(threshold)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise ConfigError(f"threshold={threshold} must lie strictly between 0 and 1; the paper's figure has 0.75.")
    from smoothpl.plots.smoothness import draw

    draw(value, out)
    say(f"picture: {out}")
