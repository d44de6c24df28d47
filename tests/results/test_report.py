from pathlib import Path

from smoothpl.results.report import Options, Report, build_report
from smoothpl.results.runs import find_runs
from tests.support.made_up import made_up, store, store_all


def report_of(folder: Path) -> Report:
    return build_report(find_runs([folder]), Options(), with_pictures=False)


def test_a_benchmark_is_a_section_and_what_was_left_out_another(tmp_path: Path) -> None:
    store_all(tmp_path)
    store(tmp_path, made_up("smooth", 7, None, status="failed", failure="no luck"))
    report = report_of(tmp_path)
    assert [section.title for section in report.sections] == ["digits_40, 40 labels, balanced", "Left out"]
    assert report.about == "19 runs, 18 of them finished."
    assert len(report.list_of_runs.rows) == 19
    assert report.charts == []


def test_more_labels_are_a_section_and_continued_runs_are_compared_with_runs_from_scratch(tmp_path: Path) -> None:
    for fold in range(2):
        for num_labels, error in ((40, 9.0), (50, 8.0)):
            store(tmp_path, made_up("smooth", fold, error, "split=random", f"num_labels={num_labels}"))
    (more,) = [section for section in report_of(tmp_path).sections if section.title == "More labels"]
    titles = ["digits_40, random: error by the number of labels, %", "What more labels bring, trained from scratch"]
    assert [sheet.title for sheet in more.sheets] == titles
    for fold in range(2):
        store(tmp_path, made_up("smooth", fold, 7.0, "split=random", "num_labels=50", "labels_before=[40]"))
    (more,) = [section for section in report_of(tmp_path).sections if section.title == "More labels"]
    _, from_scratch, continued, against = more.sheets
    assert [row[1].text for row in (*from_scratch.rows, *continued.rows)] == ["40 → 50", "40 → 50"]
    assert [line.split(":")[0] for line in more.sentences] == [
        "Probabilistic monotonicity, trained from scratch",
        "Probabilistic monotonicity, continued",
    ]
    ((recipe, labels, _, gain, *_),) = against.rows
    assert "after=40" in recipe.text
    assert (labels.text, gain.text) == ("50", "1.00 ± 0.00")
