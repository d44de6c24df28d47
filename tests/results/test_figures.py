from pathlib import Path

from smoothpl.results.figures import label_charts, table_charts
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
