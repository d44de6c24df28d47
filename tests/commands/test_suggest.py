import csv
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from smoothpl.commands import suggest
from smoothpl.config.overrides import CommandLine
from smoothpl.data.folder.scan import scan_folder
from smoothpl.errors import ConfigError
from smoothpl.run.command_line import complete
from smoothpl.run.training import train
from tests.results.test_page import BROWSER, needs_browser
from tests.support.composing import TINY, composed
from tests.support.own import save, two_digits

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
        request = complete(CommandLine.parse(["data=folder", f"data.root={root}", "data.flip=0", *TINY]))
        train(request.config(), folder / "run", scan=request.scan)
    return folder


@pytest.fixture(autouse=True)
def beside_the_run(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    monkeypatch.chdir(place)


def test_unlabeled_images_are_suggested_and_no_others(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suggest.main(["run=run"])
    with (place / "suggestions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["file"] for row in rows} == {f"'{ODD}", "other.png"}
    assert {row["label"] for row in rows} == {""}
    assert "suggestions: suggestions.html" in capsys.readouterr().out


@needs_browser
def test_labels_are_clicked_in_a_browser_and_read_back(place: Path) -> None:
    suggest.main(["run=run", "n=2", "out=page"])
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
    scan = scan_folder(str(place / "photos"))
    given = {file: name for file, name in scan.label.items() if not file.startswith("labeled/")}
    assert given == {"named.png": "<i>two</i>", ODD: "<i>two</i>", "other.png": '-new, "class"'}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], r"run=\.\.\. must be given"),
        (["run=run", "n=0"], "n=0 must be a positive whole number"),
        (["run=run", "k=3"], "k=3 is not an option of this command"),
        (["run=photos"], "run=photos is not a run"),
    ],
)
def test_a_mistake_is_one_message(arguments: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        suggest.main(arguments)


def test_a_run_without_a_folder_or_without_unlabeled_images_has_nothing_to_suggest(tmp_path: Path) -> None:
    train(composed(*TINY), tmp_path / "digits")
    with pytest.raises(ConfigError, match="was not trained on a folder of images"):
        suggest.main([f"run={tmp_path / 'digits'}"])
    root = two_digits(tmp_path / "all", unlabeled=0)
    with pytest.raises(ConfigError, match="every image has a label"):
        suggest.main(["run=run", f"root={root}"])
