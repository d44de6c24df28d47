from pathlib import Path

import pytest
from PIL import Image

from smoothpl.loggers.curves import Curves
from smoothpl.record.record import Evaluation, Record
from smoothpl.results.run_picture import compose_run, draw_run


def record_of(num_classes: int) -> Record:
    names = [f"class {c}" for c in range(num_classes)]
    record = Record({"benchmark": "digits_40"}, "abc", "smooth,abc", class_names=names)
    record.take_history([Evaluation(10, 50.0, [2]), Evaluation(20, 12.5, [])])
    record.confusion = [[int(a == b) for a in range(num_classes)] for b in range(num_classes)]
    record.reliability, record.calibration_error = [(10, 0.9, 0.8), (300, 0.99, 0.97)], 0.02
    return record


@pytest.mark.parametrize("num_classes", [3, 100])
@pytest.mark.parametrize("with_curves", [True, False])
def test_a_run_is_drawn_with_what_there_is(tmp_path: Path, num_classes: int, with_curves: bool) -> None:
    if with_curves:
        curves = Curves(tmp_path)
        for step in range(5):
            curves.log_metrics({"train/coverage": 0.1 * step}, step)
            curves.log_metrics({"train/purity": 0.9}, step)
    path = draw_run(record_of(num_classes), tmp_path)
    assert path == tmp_path / "run.png"
    with Image.open(path) as picture:
        assert picture.size == (1000, 750)


def test_a_dollar_in_the_name_of_a_class_is_a_dollar(tmp_path: Path) -> None:
    record = record_of(3)
    record.class_names = ["a$^$b", "$", "c_"]
    assert draw_run(record, tmp_path).exists()


def test_no_legend_lies_over_a_curve(tmp_path: Path) -> None:
    curves = Curves(tmp_path)
    for step in range(5):
        curves.log_metrics({"train/coverage": 0.1 * step, "train/purity": 0.9, "train/weight_mean": 0.0}, step)
    figure = compose_run(record_of(3), tmp_path)
    figure.savefig(tmp_path / "run.png")
    legends = [(axes, axes.get_legend()) for axes in figure.axes if axes.get_legend()]
    assert len(legends) == 2
    for axes, legend in legends:
        assert legend is not None
        assert not legend.get_window_extent().overlaps(axes.get_window_extent())


@pytest.mark.parametrize("errors", [[0.0, 0.0], [100.0, float("nan")]])
def test_any_error_can_be_drawn(tmp_path: Path, errors: list[float]) -> None:
    record = record_of(3)
    record.take_history([Evaluation(step, error, []) for step, error in enumerate(errors)])
    assert draw_run(record, tmp_path).exists()
