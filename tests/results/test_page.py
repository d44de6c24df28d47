"""The page in a real browser: Chromium, where there is one."""

import os
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from smoothpl.paper import paper_runs
from smoothpl.results.output import save
from smoothpl.results.report import Options, build_report
from smoothpl.results.runs import find_runs
from tests.support.made_up import made_up, store, store_all

BROWSER = os.environ.get("SMOOTHPL_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium here (or its path in SMOOTHPL_BROWSER)")
NASTY = "<script>alert('&')</script>"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on runs and on the paper, with all that can be in one."""
    folder = tmp_path_factory.mktemp("runs")
    store_all(folder)
    for threshold in (0.8, 0.9):
        for method in ("fixmatch", "smooth"):
            store(folder, made_up(method, 0, 10 * threshold, f"threshold={threshold}", collapsed=[3]))
    for num_labels in (40, 50):
        store(folder, made_up("smooth", 0, 5.0, "split=random", f"num_labels={num_labels}"))
    store(folder, made_up("smooth", 7, None, status="failed", failure=NASTY, name=NASTY))
    report = build_report([*find_runs([folder]), *paper_runs()], Options())
    (path,) = save(report, tmp_path_factory.mktemp("page") / "report.html")
    return path


class Seen:
    """What a browser says of a page while it is open."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def seen(browser: Any, page_file: Path, request: pytest.FixtureRequest) -> Iterator[Seen]:
    page = browser.new_page(**getattr(request, "param", {}))
    seen = Seen(page)
    page.goto(page_file.as_uri())
    yield seen
    page.close()


@needs_browser
def test_it_needs_nothing_but_itself(seen: Seen, page_file: Path) -> None:
    assert seen.requests == [page_file.as_uri()]
    assert seen.complaints == []
    assert seen.page.locator("figure svg").count() >= 8


@needs_browser
def test_names_cannot_do_harm(seen: Seen) -> None:
    assert seen.page.locator("body", has_text=NASTY).count() == 1
    assert seen.page.locator("script").count() == 1


@needs_browser
def test_tables_are_sorted_by_mouse_and_keyboard(seen: Seen) -> None:
    table = seen.page.locator("table").filter(has_text="digits_40, 40 labels, balanced: error of").first
    button = table.get_by_role("button", name="mean ± std")
    column = [cell.inner_text() for cell in table.locator("thead th").all()].index(button.inner_text())

    def means() -> list[float]:
        cells = [row.locator("th,td").nth(column).inner_text() for row in table.locator("tbody tr").all()]
        return [float(text.split()[0]) for text in cells]

    before = means()
    button.click()
    assert means() == sorted(before)
    button.focus()
    seen.page.keyboard.press("Enter")
    assert means() == sorted(before, reverse=True)
    assert button.locator("xpath=..").get_attribute("aria-sort") == "descending"


@needs_browser
@pytest.mark.parametrize("seen", [{"viewport": {"width": 360, "height": 740}}], indirect=True)
def test_on_a_phone_only_wide_tables_scroll_sideways(seen: Seen) -> None:
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360


@needs_browser
@pytest.mark.parametrize("seen", [{"color_scheme": scheme} for scheme in ("light", "dark")], indirect=True)
def test_text_and_pictures_follow_light_and_dark(seen: Seen) -> None:
    """Contrast of at least 7 to 1, of text as of the lines of pictures."""
    luminance = """(colour) => {
      const [r, g, b] = colour.match(/[\\d.]+/g).map((value) => value / 255)
        .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    }"""
    style = "getComputedStyle(document.querySelector('{}')).{}"
    paper = seen.page.evaluate(f"({luminance})({style.format('body', 'backgroundColor')})")
    for what in (style.format("td", "color"), style.format("figure svg text", "fill")):
        ink = seen.page.evaluate(f"({luminance})({what})")
        high, low = max(ink, paper), min(ink, paper)
        assert (high + 0.05) / (low + 0.05) >= 7


@needs_browser
def test_it_can_be_read_aloud_and_walked_through(seen: Seen) -> None:
    evaluate = seen.page.evaluate
    assert evaluate("document.documentElement.lang") == "en"
    assert evaluate("[...document.querySelectorAll('table')].every((table) => table.caption !== null)")
    assert evaluate("[...document.querySelectorAll('figure')].every((figure) => figure.querySelector('figcaption'))")
    levels = evaluate("[...document.querySelectorAll('h1,h2,h3')].map((head) => Number(head.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert len(ids) == len(set(ids))


@needs_browser
def test_links_lead_to_the_directories_of_runs(seen: Seen, page_file: Path) -> None:
    links = [link.get_attribute("href") for link in seen.page.locator("section tbody a").all()]
    assert len(links) >= 24
    for link in links:
        assert (page_file.parent / str(link) / "run.json").is_file()


@needs_browser
def test_it_prints(seen: Seen, tmp_path: Path) -> None:
    seen.page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
