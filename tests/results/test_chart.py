from xml.etree import ElementTree

from smoothpl.results.chart import Chart, draw


def some_picture(height: float, caption: str = "Error of every run, %.") -> Chart:
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
