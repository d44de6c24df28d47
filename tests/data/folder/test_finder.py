from pathlib import Path

import pytest

from smoothpl.data.folder.finder import Finder
from smoothpl.errors import ConfigError

FILES = ["a.JPG", "pool/b.png", "pool/photos/c.png", "one/same.png", "two/same.png", "Case.png", "case.png", "ü.png"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a.JPG", "a.JPG"),
        ("a.jpg", "a.JPG"),
        ("./pool//b.png", "pool/b.png"),
        ("pool\\B.PNG", "pool/b.png"),
        ("b.png", "pool/b.png"),
        ("B.png", "pool/b.png"),
        (" b.png ", "pool/b.png"),
        ("photos/a.JPG", "a.JPG"),
        ("D:\\data\\Photos\\pool\\b.png", "pool/b.png"),
        ("\\\\server\\photos\\a.jpg", "a.JPG"),
        ("/mnt/photos/pool/photos/c.png", "pool/photos/c.png"),
        ("Case.png", "Case.png"),
        ("case.png", "case.png"),
        ("U\u0308.PNG", "ü.png"),
        ("two/SAME.png", "two/same.png"),
    ],
)
def test_a_path_is_found_as_people_and_systems_spell_it(written: str, meant: str) -> None:
    assert Finder(FILES, Path("/home/me/photos")).find(written, "labels.csv") == meant


@pytest.mark.parametrize(
    "written", ["z.png", "gone/b.png", "../a.JPG", "/etc/passwd", "C:\\other\\a.JPG", "", "/", "photos"]
)
def test_a_path_that_leads_elsewhere_is_not_an_image(written: str) -> None:
    assert Finder(FILES, Path("/home/me/photos")).find(written, "labels.csv") is None


@pytest.mark.parametrize("written", ["same.png", "SAME.png", "CASE.png"])
def test_a_name_that_could_be_two_images_is_refused(written: str) -> None:
    with pytest.raises(ConfigError, match=r"labels\.csv, line 2: .* could be .* or .*; write the path, relative"):
        Finder(FILES, Path("/home/me/photos")).find(written, "labels.csv, line 2")


def test_a_copy_that_a_tool_keeps_is_found_by_its_name() -> None:
    finder = Finder(FILES, Path("photos"))
    assert finder.look_for("/data/upload/1/0a1b2c3d-b.png", "task 1") == "pool/b.png"
    assert finder.look_for("s3://bucket/b.PNG", "task 1") == "pool/b.png"
    assert finder.look_for("elsewhere/b.png", "task 1") is None
