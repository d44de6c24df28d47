from pathlib import Path

from PIL import Image

from smoothpl.data.folder.scan import scan_folder
from smoothpl.inference.suggestion_page import Found, Shown, as_csv, as_page, picture_of
from tests.support.own import save, two_digits


def test_no_name_from_elsewhere_is_run_as_code(tmp_path: Path) -> None:
    shown = [Shown("</script><script>alert(1)</script>.png", "<b>", 0.5, "<i>", "data:,")]
    page = as_page(Found(scan_folder(str(two_digits(tmp_path / "photos"))), ("<b>",), shown))
    assert "<script>alert" not in page
    assert "<b>" not in page


def test_a_list_has_an_empty_column_for_labels() -> None:
    rows = as_csv([Shown("=1.png", "cat", 0.5, "unsure")]).splitlines()
    assert rows == ["file,label,guess,confidence,why", "'=1.png,,cat,0.5000,unsure"]


def test_large_pictures_are_made_small_and_small_ones_large(tmp_path: Path) -> None:
    Image.new("RGB", (400, 100), "red").save(tmp_path / "large.png")
    assert picture_of(tmp_path / "large.png").startswith("data:image/jpeg;base64,")
    assert picture_of(save(tmp_path / "small.png", 0)).startswith("data:image/png;base64,")
