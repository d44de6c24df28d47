from pathlib import Path

from smoothpl.results.report import Options, build_report
from smoothpl.results.runs import find_runs
from smoothpl.results.stranger_sheet import stranger_sheet
from smoothpl.results.tables import tabulate
from tests.support.made_up import made_up, only, store


def stored(folder: Path, method: str, fold: int, **told: float) -> None:
    record = made_up(method, fold, 5.0)
    record.metrics |= {f"train/{name}": value for name, value in told.items()}
    store(folder, record)


def test_strangers_that_are_not_taught_stand_beside_known_images_that_are(tmp_path: Path) -> None:
    for fold, recall in ((0, 0.5), (1, 0.7)):
        stored(tmp_path, "fixmatch", fold, stranger_recall=recall, known_coverage=0.8)
    stored(tmp_path, "supervised", 0)
    sheet = stranger_sheet(only(tabulate(find_runs([tmp_path]))))
    assert sheet is not None
    assert [[cell.text for cell in row] for row in sheet.rows] == [["fixmatch", "60.00 ± 10.00", "80.00 ± 0.00", "2"]]
    assert sheet.title in [each.title for each in build_report(find_runs([tmp_path]), Options(), False).sheets]


def test_without_strangers_there_is_no_such_sheet(tmp_path: Path) -> None:
    stored(tmp_path, "fixmatch", 0)
    assert stranger_sheet(only(tabulate(find_runs([tmp_path])))) is None
