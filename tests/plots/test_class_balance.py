from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from smoothpl.data import balanced, digits
from smoothpl.plots.class_balance import draw, draw_classes, draw_deviations


def test_every_fold_is_a_line_and_their_mean_another() -> None:
    axes = Figure().subplots()
    draw_deviations(axes, {40: [0.2, 0.4, 0.9], 50: [0.1, 0.2, 0.3]})
    *folds, mean = [np.asarray(line.get_ydata()).tolist() for line in axes.get_lines()]
    assert folds == [[0.2, 0.1], [0.4, 0.2], [0.9, 0.3]]
    assert mean == pytest.approx([0.5, 0.2])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one fold", "mean of 3 folds"]  # type: ignore[union-attr]


def test_every_class_has_a_bar_for_its_share_of_labeled_and_unlabeled_images() -> None:
    source = digits()
    fold = balanced(source.train.labels, 40, 10, 0, True)
    axes = Figure().subplots()
    draw_classes(axes, source, fold)
    heights = [bar.get_height() for bar in axes.patches]  # type: ignore[attr-defined]
    assert heights[:10] == pytest.approx([0.1] * 10)
    assert sum(heights[10:]) == pytest.approx(1)


def test_the_picture_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    source = digits()
    draw(source, balanced(source.train.labels, 40, 10, 0, True), None, tmp_path / "new" / "folds.png")
    assert (tmp_path / "new" / "folds.png").stat().st_size > 1000
