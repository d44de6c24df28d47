import pytest
import torch

from smoothpl.loggers.external import pixels_of
from smoothpl.plots.pseudo_labels import Example, pseudo_label_figure


def test_a_wrong_label_is_shown_with_the_true_one() -> None:
    views = torch.rand(2, 1, 8, 8)
    rows = {"most confident": [Example(views, "cat", 0.9, 0.5, truth) for truth in ("cat", "dog", None)]}
    titles = [axes.get_title() for axes in pseudo_label_figure(rows, "title").axes]
    assert titles[:3] == ["cat\n0.90, 0.50", "cat, not dog\n0.90, 0.50", "cat\n0.90, 0.50"]


def test_a_dollar_in_the_name_of_a_class_is_a_dollar() -> None:
    example = Example(torch.rand(2, 1, 8, 8), "a$^$b", 0.9, 0.5, "$")
    pixels_of(pseudo_label_figure({"the surest": [example]}, "title"))


@pytest.mark.parametrize("views", [("weak",), ("weak", "strong")])
def test_rows_are_named_by_the_views_that_they_show(views: tuple[str, ...]) -> None:
    example = Example(torch.rand(len(views), 3, 8, 8), "cat", 0.9, 0.5, "cat")
    figure = pseudo_label_figure({"most confident": [example] * 2, "least confident": [example]}, "title")
    names = [part.get_supylabel() for part in figure.subfigs]
    assert names == ["most confident", "least confident"]
    for part in figure.subfigs:
        assert [axes.get_ylabel() for axes in part.axes[:: len(part.axes) // len(views)]] == [*views]
    pixels_of(figure)
