import numpy as np
import pytest
from matplotlib.figure import Figure

from smoothpl.loggers.external import pixels_of
from smoothpl.plots.confusion import confusion_figure, draw_confusion, row_shares


def test_shares_are_parts_of_the_true_class_and_zero_without_images() -> None:
    assert row_shares([[6, 2], [0, 0]]).tolist() == [[0.75, 0.25], [0.0, 0.0]]
    assert row_shares(np.ones((3, 4, 4))).shape == (3, 4, 4)


def test_columns_of_collapsed_classes_are_marked() -> None:
    axes = Figure().subplots()
    draw_confusion(axes, row_shares([[6, 0], [2, 0]]), ["cat", "dog"], collapsed=[1])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["cat", "dog ✗"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["cat", "dog"]


@pytest.mark.parametrize(("num_classes", "is_named"), [(20, True), (21, False)])
def test_many_classes_are_drawn_without_their_names(num_classes: int, is_named: bool) -> None:
    figure = confusion_figure(np.eye(num_classes, dtype=int).tolist(), [f"class {c}" for c in range(num_classes)])
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert ("class 0" in labels) == is_named


def test_a_dollar_in_the_name_of_a_class_is_a_dollar() -> None:
    pixels_of(confusion_figure([[1, 0], [0, 1]], ["a$^$b", "$"]))


@pytest.mark.parametrize("names", [["a", "b"], ["a very long name of a class, and more of it", "b"]])
def test_the_colour_bar_is_as_tall_as_the_matrix(names: list[str]) -> None:
    figure = confusion_figure([[3, 1], [0, 4]], names)
    pixels_of(figure)
    (axes,) = figure.axes
    (bar,) = axes.child_axes
    matrix, beside = axes.get_window_extent(), bar.get_window_extent()
    assert (beside.y0, beside.y1) == pytest.approx((matrix.y0, matrix.y1), abs=1)


def test_numbers_stand_in_the_cells_and_can_be_read_on_their_colours() -> None:
    axes = Figure().subplots()
    draw_confusion(axes, row_shares([[30, 1], [0, 4]]), ["a", "b"], numbers=[[30, 1], [0, 4]], with_bar=False)
    assert [(text.get_text(), text.get_color()) for text in axes.texts] == [
        ("30", "black"),
        ("1", "white"),
        ("4", "black"),
    ]
    assert not axes.child_axes


@pytest.mark.parametrize(("num_classes", "largest"), [(2, 10), (10, 1000), (20, 99999)])
def test_numbers_fit_into_their_cells(num_classes: int, largest: int) -> None:
    figure = confusion_figure(np.full((num_classes, num_classes), largest).tolist(), ["c"] * num_classes)
    pixels_of(figure)
    axes = figure.axes[0]
    cell = axes.get_window_extent().width / num_classes
    assert max(text.get_window_extent().width for text in axes.texts) <= cell
