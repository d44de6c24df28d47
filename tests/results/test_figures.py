from pathlib import Path
from xml.etree import ElementTree

from smoothpl.results.figures import Drawing, draw, label_figures, of_table
from smoothpl.results.runs import find_runs
from smoothpl.results.tables import tabulate
from tests.results.made_up import made_up, only, store, store_all


def some_picture(height: float, caption: str = "Error of every run, %.") -> Drawing:
    return draw(caption, "", lambda axes: axes.plot([0, 1], [0, height]))


def test_pictures_with_one_caption_have_files_of_their_own() -> None:
    names = {some_picture(1).file_name, some_picture(2).file_name}
    assert len(names) == 2
    assert all(name.startswith("error_of_every_run_") and name.endswith(".svg") for name in names)


def test_the_same_picture_is_the_same_to_the_letter() -> None:
    assert some_picture(1) == some_picture(1)


def test_alone_a_picture_has_colours_and_a_ground_of_its_own() -> None:
    picture = some_picture(1)
    assert "currentColor" in picture.svg
    assert "currentColor" not in picture.alone
    assert ElementTree.fromstring(picture.alone).get("style") == "background: white"


def test_a_table_has_its_errors_gains_curves_and_confusions(tmp_path: Path) -> None:
    captions = [drawing.caption for drawing in of_table(only(tabulate(find_runs([store_all(tmp_path)]))))]
    beginnings = [
        "Error of every run",
        "Gain over fixmatch",
        "Test error while training",
        "fixmatch: true",
        "flexmatch: true",
    ]
    assert [caption[: len(start)] for caption, start in zip(captions, beginnings, strict=False)] == beginnings
    assert len(captions) == 6


def test_labels_that_grew_have_a_line_beside_training_anew(tmp_path: Path) -> None:
    for num_labels, error in ((40, 9.0), (50, 8.0)):
        store(tmp_path, made_up("smooth", 0, error, "split=random", f"num_labels={num_labels}"))
    store(tmp_path, made_up("smooth", 0, 7.0, "split=random", "num_labels=50", "labels_before=[40]"))
    (picture,) = label_figures(tabulate(find_runs([tmp_path])))
    assert picture.words == "smooth: 40 9.00, 50 8.00; smooth,after=40: 40 9.00, 50 7.00"
