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
