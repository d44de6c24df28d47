import csv
import sys
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import sync_playwright

from smoothpl import suggest
from smoothpl.cli.arguments import compose_checked
from smoothpl.config.folder_defaults import with_choices
from smoothpl.data.album import open_album
from smoothpl.errors import ConfigError
from smoothpl.suggest import Shown, as_csv, picture_of
from smoothpl.train import train
from tests.composing import TINY, composed
from tests.data.own import save, two_digits
from tests.results.test_page import BROWSER, needs_browser

ODD = '=a <b>\'s, "c"\nü.png'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a CSV and odd names, and a run on it."""
    folder = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        root = two_digits(folder / "photos", labels=4, unlabeled=8, test=1)
        for path in (root / "pool").iterdir():
            path.unlink()
        save(root / ODD, 20)
        save(root / "other.png", 21)
        save(root / "named.png", 22)
        (root / "labels.csv").write_text("file,label,split\nnamed.png,<i>two</i>,\n")
        words = with_choices(["data=folder", f"data.root={root}", "data.flip=0", *TINY])
        train(compose_checked(words), folder / "run")
    return folder


def run(place: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "argv", ["suggest", *words])
    suggest.main()


def test_unlabeled_images_are_suggested_and_no_others(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(place, monkeypatch, "run=run")
    with (place / "suggestions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["file"] for row in rows} == {f"'{ODD}", "other.png"}
    assert {row["label"] for row in rows} == {""}
    assert "suggestions: suggestions.html" in capsys.readouterr().out


@needs_browser
def test_labels_are_clicked_in_a_browser_and_read_back(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(place, monkeypatch, "run=run", "n=2", "out=page")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        context = browser.new_context(offline=True, accept_downloads=True)
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((place / "page.html").as_uri())
        assert page.locator("fieldset").count() == 2
        assert page.locator("img").first.evaluate("image => image.naturalWidth") == 192
        odd = page.locator("fieldset").filter(has=page.locator("img[alt^='=a <b>']"))
        odd.get_by_text("<i>two</i>", exact=True).click()
        other = page.locator("fieldset").filter(has=page.locator("img[alt='other.png']"))
        other.locator("input[type=text]").fill('-new, "class"')
        other.locator("input[type=text]").press("Tab")
        assert page.locator("#count").inner_text() == "2 labeled"
        with page.expect_download() as download:
            page.get_by_role("button", name="Save labels.csv").click()
        assert download.value.suggested_filename == "labels.csv"
        download.value.save_as(place / "labels.csv")
        browser.close()
    assert errors == []
    (place / "photos" / "labels.csv").write_bytes((place / "labels.csv").read_bytes())
    album = open_album(str(place / "photos"))
    given = {file: name for file, name in album.label.items() if not file.startswith("labeled/")}
    assert given == {"named.png": "<i>two</i>", ODD: "<i>two</i>", "other.png": '-new, "class"'}


def test_nothing_of_a_strangers_name_is_run(place: Path) -> None:
    shown = [Shown("</script><script>alert(1)</script>.png", "<b>", 0.5, "<i>", "data:,")]
    page = suggest.as_page(open_album(str(place / "photos")), ("<b>",), shown)
    assert "<script>alert" not in page
    assert "<b>" not in page
    assert as_csv(shown).splitlines()[0] == "file,label,guess,confidence,why"


def test_large_pictures_are_made_small_and_small_ones_large(tmp_path: Path) -> None:
    Image.new("RGB", (400, 100), "red").save(tmp_path / "large.png")
    assert picture_of(tmp_path / "large.png").startswith("data:image/jpeg;base64,")
    assert picture_of(save(tmp_path / "small.png", 0)).startswith("data:image/png;base64,")


def test_what_cannot_be_done_is_said(place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for words, message in (
        ([], "run=<directory> is needed"),
        (["run=run", "n=0"], "n=0 must be a positive whole number"),
        (["run=run", "k=3"], "k=3 is not a word of this command"),
        (["run=photos"], "run=photos holds no run"),
    ):
        with pytest.raises(ConfigError, match=message):
            run(place, monkeypatch, *words)
    train(composed(*TINY), tmp_path / "digits")
    with pytest.raises(ConfigError, match="is not about a folder of images"):
        run(place, monkeypatch, f"run={tmp_path / 'digits'}")
    root = two_digits(tmp_path / "all", unlabeled=0)
    with pytest.raises(ConfigError, match="every image has a label"):
        run(place, monkeypatch, "run=run", f"root={root}")
