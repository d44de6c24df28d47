import torch

from smoothpl.loggers.external import pixels_of
from smoothpl.plots.pseudo_labels import Example, pseudo_label_figure


def test_a_wrong_label_is_shown_with_the_true_one() -> None:
    views = torch.rand(2, 1, 8, 8)
    rows = {"most confident": [Example(views, "cat", 0.9, 0.5, truth) for truth in ("cat", "dog", None)]}
    titles = [axes.get_title() for axes in pseudo_label_figure(rows, "title").axes]
    assert titles == ["cat\n0.90, 0.50", "cat, not dog\n0.90, 0.50", "cat\n0.90, 0.50"]


def test_a_dollar_in_the_name_of_a_class_is_a_dollar() -> None:
    example = Example(torch.rand(2, 1, 8, 8), "a$^$b", 0.9, 0.5, "$")
    pixels_of(pseudo_label_figure({"the surest": [example]}, "title"))
