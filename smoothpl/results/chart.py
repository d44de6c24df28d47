"""A chart: a picture as SVG that takes its colours from the page around it."""

import hashlib
import re
from collections.abc import Callable
from io import StringIO
from typing import Any, NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from smoothpl.plots.style import PLAIN

INK = "#0a0b0c"
"""Stands for the colour of the page's text."""
STYLE: Any = {
    **PLAIN,
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and selected
    "svg.hashsalt": "smoothpl",  # the same picture gives the same file
    "font.family": "sans-serif",
    "font.size": 9,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


class Chart(NamedTuple):
    """A picture, and a description of it for those who cannot see it."""

    caption: str
    description: str
    svg: str
    is_small: bool = False  # several of them stand side by side

    @property
    def file_name(self) -> str:
        mark = short_digest(self.svg)  # captions are not unique
        return f"{re.sub(r'[^a-z0-9]+', '_', self.caption.lower())[:40].strip('_')}_{mark}.svg"

    @property
    def alone(self) -> str:
        """The picture for a file of its own, which has no page around it to take colours from."""
        return self.svg.replace("currentColor", "#222").replace("<svg ", '<svg style="background: white" ', 1)


def draw(
    caption: str, description: str, paint: Callable[[Axes], object], size: tuple[float, float] = (6.4, 3.2)
) -> Chart:
    with rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        paint(figure.subplots())
        text = StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r' id="[A-Za-z][A-Za-z0-9.]*_\d+"', "", svg)  # groups that nothing refers to
    mark = short_digest(caption + description + svg)  # no two pictures of a page share an id
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{mark}", svg)
    svg = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', 'role="img" aria-hidden="true"', svg, count=1)
    return Chart(caption, description, re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL))


def short_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
