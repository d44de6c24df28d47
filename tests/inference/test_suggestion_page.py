from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from playwright.sync_api import BrowserContext, Page, Playwright, sync_playwright
from torch import Tensor

from smoothpl.data.folder.scan import scan_folder
from smoothpl.inference import suggestion_page
from smoothpl.inference.suggestion_page import (
    Found,
    Shown,
    as_csv,
    as_page,
    files_that_teach,
    identity,
    picture_of,
    reason,
)
from smoothpl.inference.suggestions import POORLY_COVERED, UNLIKE, Look, Suggestion, suggest
from smoothpl.record.record import read
from tests.results.test_page import BROWSER, needs_browser
from tests.support.own import decode, save, two_digits


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


def test_a_reason_can_stand_beside_a_guess_of_any_confidence() -> None:
    names = ["cat", "dog"]
    assert reason(Suggestion(0, 0, 0.95, UNLIKE), names) == "unlike the labeled images"
    other = reason(Suggestion(0, 0, 0.95, POORLY_COVERED, for_class=1), names)
    assert other == "or is it dog? That is a class that the model finds in few images"
    same = reason(Suggestion(0, 1, 0.95, POORLY_COVERED, for_class=1), names)
    assert same == "worth checking: dog is a class that the model finds in few images"


@pytest.mark.usefixtures("folder_of_runs")
def test_only_labels_that_were_learned_from_count(on_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held out says nothing about what the network has been taught."""
    seen: list[tuple[int, list[int]]] = []

    def watched(unlabeled: Look, labeled: Look, labels: Tensor, *others: Any) -> list[Suggestion]:
        seen.append((len(labeled.features), torch.bincount(labels).tolist()))
        return suggest(unlabeled, labeled, labels, *others)

    monkeypatch.setattr(suggestion_page, "suggest", watched)
    found = suggestion_page.find(on_folder, None, 3, trust=True)
    learned = read(on_folder).labeled_per_class
    assert seen == [(sum(learned), learned)]
    assert sum(learned) < len(found.scan.label)


def test_labeled_images_that_are_test_images_too_do_not_teach(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "photos", test=1)
    (leak,) = (root / "test" / "zero").iterdir()
    (root / "labeled" / "zero" / "again.png").write_bytes(leak.read_bytes())
    scan = scan_folder(str(root))
    files = files_that_teach(scan, decode(scan.paths), {"zero", "one"}, folds=0, fold=0)
    assert {scan.files[at] for at in files} == {*scan.label} - {"labeled/zero/again.png"}
    assert files_that_teach(scan, decode(scan.paths), {"one"}, folds=0, fold=0) == [
        at for at, file in enumerate(scan.files) if scan.label.get(file) == "one"
    ]


def test_a_page_is_known_by_its_folder_and_by_what_its_images_show(tmp_path: Path) -> None:
    one, other = (scan_folder(str(two_digits(tmp_path / name))) for name in ("one", "other"))
    files = [*one.files][:2]
    assert identity(one, files) == identity(scan_folder(str(tmp_path / "one")), files)
    assert len({identity(one, files), identity(one, files[:1]), identity(other, files)}) == 3


@pytest.fixture
def page_file(tmp_path: Path) -> Path:
    scan = scan_folder(str(two_digits(tmp_path / "photos")))
    shown = [Shown(file, "<b>", 0.5, "unsure", "data:,") for file in scan.files[:2]]
    (tmp_path / "page.html").write_text(as_page(Found(scan, ("<b>", "cat"), shown)))
    return tmp_path / "page.html"


def reopened(playwright: Playwright, page_file: Path) -> tuple[BrowserContext, Page]:
    """The page after the browser was closed, or for the first time."""
    profile = str(page_file.parent / "profile")
    context = playwright.chromium.launch_persistent_context(profile, executable_path=BROWSER, args=["--no-sandbox"])
    page = context.new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(page_file.as_uri())
    return context, page


@needs_browser
def test_labels_survive_closing_the_browser(page_file: Path) -> None:
    with sync_playwright() as playwright:
        context, page = reopened(playwright, page_file)
        page.locator("fieldset").first.get_by_text("<b>", exact=True).click()
        page.locator("fieldset").last.locator("input[type=text]").fill("<i>new</i>")
        page.locator("fieldset").last.locator("input[type=text]").press("Tab")
        context.close()
        context, page = reopened(playwright, page_file)
        assert page.locator("#count").inner_text() == "2 labeled"
        assert page.locator("fieldset").first.locator("input:checked").input_value() == "<b>"
        assert page.locator("fieldset.done input[type=text]").last.input_value() == "<i>new</i>"
        with page.expect_download() as download:
            page.get_by_role("button", name="Save labels.csv").click()
        assert ",<i>new</i>," in download.value.path().read_text()
        page.get_by_role("button", name="Clear all").click()
        page.reload()
        assert page.locator("#count").inner_text() == "0 labeled"
        context.close()


@needs_browser
def test_what_cannot_be_remembered_is_forgotten_and_the_page_still_works(page_file: Path) -> None:
    damaged = ["{", "7", "[7]", '[[99, "a"], [0, 1], ["push", "a"], [-1, "a"]]', '{"length": 3}']
    refused = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused'); }})"
    with sync_playwright() as playwright:
        context, page = reopened(playwright, page_file)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        for text in damaged:
            page.evaluate("(text) => localStorage.setItem(key, text)", text)
            page.reload()
            assert page.locator("#count").inner_text() == "0 labeled"
        page.add_init_script(refused)
        page.reload()
        page.locator("fieldset").first.get_by_text("cat", exact=True).click()
        assert page.locator("#count").inner_text() == "1 labeled; this browser forgets them when the page is closed"
        assert errors == []
        context.close()
