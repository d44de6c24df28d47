from io import BytesIO

import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure

from smoothpl.plots.style import PLAIN, legend_above, legend_dims


def save(name: str) -> None:
    figure = Figure()
    figure.suptitle(name)
    figure.savefig(BytesIO())


def test_a_dollar_in_a_name_is_a_dollar() -> None:
    """Matplotlib would take what stands between two of them for a formula, and not understand it."""
    with pytest.raises(ValueError, match=r"ParseException|Expected|Unknown"):
        save(r"$\nothing$")
    with rc_context(PLAIN):
        save(r"$\nothing$")


@pytest.mark.parametrize("num_lines", [1, 4, 9])
def test_a_legend_covers_neither_curve_nor_title(num_lines: int) -> None:
    figure = Figure(layout="constrained")
    axes = figure.subplots()
    for number in range(num_lines):
        axes.plot([0, 1], [number, 1], label=f"a label of some length {number}")
    legend_above(axes, "title")
    figure.savefig(BytesIO())
    legend = axes.get_legend()
    assert legend is not None
    box, title = legend.get_window_extent(), axes.title.get_window_extent()
    assert box.y0 >= axes.get_window_extent().y1
    assert title.y0 >= box.y1 - 1
    assert title.y1 <= figure.bbox.y1


def test_without_labels_there_is_no_legend() -> None:
    axes = Figure().subplots()
    legend_above(axes, "title")
    assert axes.get_legend() is None


def test_a_legend_has_as_many_columns_as_its_longest_label_lets_in() -> None:
    assert legend_dims(["a"] * 3) == (3, 1)
    assert legend_dims(["a" * 30] * 3) == (2, 2)
    assert legend_dims(["a" * 200] * 3) == (1, 3)
    assert legend_dims([]) == (1, 0)
