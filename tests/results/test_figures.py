from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from smoothpl.results.figures import Point, label_charts, paint_curves, paint_folds, paint_sweep, table_charts
from smoothpl.results.runs import find_runs
from smoothpl.results.tables import tabulate
from tests.support.made_up import made_up, only, store, store_all


def test_a_table_has_its_errors_gains_curves_and_confusions(tmp_path: Path) -> None:
    captions = [chart.caption for chart in table_charts(only(tabulate(find_runs([store_all(tmp_path)]))))]
    beginnings = [
        "Error of every run",
        "Gain over fixmatch",
        "Test error while training",
        "fixmatch: true",
        "flexmatch: true",
    ]
    assert [caption[: len(start)] for caption, start in zip(captions, beginnings, strict=False)] == beginnings
    assert len(captions) == 6


def test_continued_runs_have_a_line_beside_runs_from_scratch(tmp_path: Path) -> None:
    for num_labels, error in ((40, 9.0), (50, 8.0)):
        store(tmp_path, made_up("smooth", 0, error, "split=random", f"num_labels={num_labels}"))
    store(tmp_path, made_up("smooth", 0, 7.0, "split=random", "num_labels=50", "labels_before=[40]"))
    (picture,) = label_charts(tabulate(find_runs([tmp_path])))
    assert picture.description == "smooth: 40 9.00, 50 8.00; smooth,after=40: 40 9.00, 50 7.00"


def table_of(folder: Path, **errors: list[float]) -> Any:
    return only(tabulate(find_runs([store_all(folder, errors=errors)])))


def test_folds_are_points_and_their_mean_has_an_error_bar(tmp_path: Path) -> None:
    table = table_of(tmp_path, fixmatch=[3.0, 5.0, 4.0], smooth=[3.0, 5.0, 4.0])
    axes = Figure().subplots()
    paint_folds(axes, table.rows, table)
    points = [line for line in axes.get_lines() if len(np.asarray(line.get_xydata())) == 3]
    assert [line.get_linestyle() for line in points] == ["None", "None"]
    (one, errors), (other, others) = (zip(*np.asarray(line.get_xydata()).tolist(), strict=True) for line in points)
    assert errors == others == (3.0, 5.0, 4.0)
    assert not {*one} & {*other}  # level runs stand side by side
    bars = [bar.get_segments()[0][:, 1].tolist() for bar in axes.collections]  # type: ignore[attr-defined]
    deviation = (2 / 3) ** 0.5
    assert bars == [pytest.approx([4 - deviation, 4 + deviation])] * 2
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1", "2", "mean"]
    assert is_outside(axes)


def is_outside(axes: Axes) -> bool:
    axes.figure.savefig(BytesIO())  # type: ignore[union-attr]
    legend = axes.get_legend()
    assert legend is not None
    return not legend.get_window_extent().overlaps(axes.get_window_extent())


def test_identical_curves_share_an_entry_and_others_differ_in_more_than_colour(tmp_path: Path) -> None:
    table = table_of(tmp_path, fixmatch=[3.0, 5.0], flexmatch=[2.0, 4.0], smooth=[3.0, 5.0])
    axes = Figure(layout="constrained").subplots()
    paint_curves(axes, table.rows)
    assert [line.get_label() for line in axes.get_lines()] == ["fixmatch = smooth", "flexmatch"]
    one, other = axes.get_lines()
    assert one.get_linestyle() != other.get_linestyle()
    assert one.get_linewidth() > other.get_linewidth()
    assert is_outside(axes)


@pytest.mark.parametrize("knob", ["seed", "labels", "threshold"])
def test_means_of_a_sweep_have_error_bars_side_by_side(knob: str) -> None:
    lines = {name: [Point(40, 9.0, 1.0), Point(50, 8.0, 0.5)] for name in ("one", "other")}
    axes = Figure(layout="constrained").subplots()
    paint_sweep(axes, knob, lines)
    bars = [[segment.tolist() for segment in bar.get_segments()] for bar in axes.collections]  # type: ignore[attr-defined]
    assert [[(low[1], high[1]) for low, high in line] for line in bars] == [[(8.0, 10.0), (7.5, 8.5)]] * 2
    assert bars[0][0][0][0] < bars[1][0][0][0]
    assert is_outside(axes)


def test_confusions_are_small_and_have_their_numbers(tmp_path: Path) -> None:
    charts = list(table_charts(only(tabulate(find_runs([store_all(tmp_path)])))))
    assert [chart.is_small for chart in charts] == [False] * 3 + [True] * 3
    assert charts[-1].svg.count(">100<") == 10
