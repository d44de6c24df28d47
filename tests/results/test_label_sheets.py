from pathlib import Path

from smoothpl.results.label_sheets import label_sheets
from smoothpl.results.runs import find_runs
from smoothpl.results.tables import tabulate
from tests.support.made_up import made_up, store


def test_errors_stand_by_the_number_of_labels_with_what_is_gained_over_the_baseline(tmp_path: Path) -> None:
    for fold in range(2):
        for method, num_labels, error in (("fixmatch", 40, 9.0), ("fixmatch", 50, 8.0), ("smooth", 40, 7.0)):
            store(tmp_path, made_up(method, fold, error + fold, "split=random", f"num_labels={num_labels}"))
        store(tmp_path, made_up("smooth", fold, 8.5, "split=random", "num_labels=50"))
        store(tmp_path, made_up("smooth", fold, 6.0, "split=random", "num_labels=50", "labels_before=[40]"))
    (sheet,) = label_sheets(tabulate(find_runs([tmp_path])))
    assert sheet.title == "digits_40, random: error by the number of labels, %"
    names = [column.name for column in sheet.columns]
    assert names == ["labels", "fixmatch ± std", "smooth ± std", "gain ± std", "p", "smooth,after=40 ± std", *names[6:]]
    few, more = ([cell.text for cell in row] for row in sheet.rows)
    assert few[:5] == ["40", "9.50 ± 0.50", "7.50 ± 0.50", "2.00 ± 0.00", "0.25"]
    assert more[:5] == ["50", "8.50 ± 0.50", "8.50 ± 0.00", "0.00 ± 0.50", "0.75"]
    assert more[5] == "6.00 ± 0.00"


def test_one_number_of_labels_makes_no_such_table(tmp_path: Path) -> None:
    store(tmp_path, made_up("smooth", 0, 7.0))
    assert list(label_sheets(tabulate(find_runs([tmp_path])))) == []
