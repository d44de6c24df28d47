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
from smoothpl.record.photographs import Photograph, write_photographs
from smoothpl.record.record import read
from smoothpl.results.card import card
from smoothpl.results.output import save
from smoothpl.results.page import breakable
from smoothpl.results.report import Options, build_report
from smoothpl.results.runs import find_runs
from tests.results.test_class_sheets import HEAD_TO_TAIL, store_tailed
from tests.results.test_photographs import PICTURE
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
    for method in ("fixmatch", "smooth"):
        store_tailed(folder, method, 0, [0] * 9 + [5])
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
def test_classes_stand_from_the_head_to_the_tail_with_the_balanced_error_below_them(seen: Seen) -> None:
    table = seen.page.locator("table").filter(has_text="long_tailed: error of each class, %").first
    assert table.is_visible()
    first = [row.locator("th,td").first.inner_text() for row in table.locator("tbody tr").all()]
    assert first == [*map(str, HEAD_TO_TAIL), "balanced error"]


def at_widths(*widths: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "seen", [{"viewport": {"width": width, "height": 740}} for width in widths], indirect=True, ids=map(str, widths)
    )


@needs_browser
@at_widths(360, 420, 1280)
def test_no_table_is_cut_off(seen: Seen) -> None:
    width = seen.page.viewport_size["width"]  # type: ignore[index]
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    for box in seen.page.locator(".scroll").all():
        assert box.evaluate("(box) => box.scrollWidth <= box.clientWidth"), box.get_attribute("aria-label")
    stacked = seen.page.locator(".stacked").count()
    assert stacked == 0 if width == 1280 else stacked >= 3


@needs_browser
@at_widths(420)
def test_a_row_that_became_a_list_names_its_columns_and_a_wider_window_brings_the_table_back(seen: Seen) -> None:
    cell = seen.page.locator(".stacked td[data-name='mean ± std']").first
    assert cell.evaluate("(cell) => getComputedStyle(cell, '::before').content") == '"mean ± std: "'
    seen.page.set_viewport_size({"width": 1280, "height": 740})
    seen.page.wait_for_function("document.querySelectorAll('.stacked').length === 0")


@needs_browser
@at_widths(1280)
def test_names_of_recipes_are_wrapped_at_commas_only(seen: Seen) -> None:
    """As tall as the lines that its parts between commas need, at most."""
    for cell in seen.page.locator("tbody th", has_text="threshold=").all():
        lines = cell.evaluate(
            "(cell) => { const range = document.createRange(); range.selectNodeContents(cell);"
            " return new Set([...range.getClientRects()].map((box) => box.top)).size; }"
        )
        assert lines <= 1 + cell.inner_text().count(",")


@needs_browser
@at_widths(1280)
def test_small_matrices_stand_side_by_side(seen: Seen) -> None:
    boxes = [figure.bounding_box() for figure in seen.page.locator(".figures.small").first.locator("figure").all()[:3]]
    tops = {box["y"] for box in boxes if box is not None}
    assert (len(boxes), len(tops)) == (3, 1)


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


def test_names_break_after_commas_and_stay_escaped() -> None:
    assert breakable("a,b, <c>/d") == "a,<wbr>b, &lt;c&gt;/<wbr>d"


@needs_browser
def test_a_card_shows_its_photographs_and_no_name_does_harm(browser: Any, tmp_path: Path) -> None:
    place = store(tmp_path, made_up("smooth", 0, 5.0, class_names=[NASTY, *map(str, range(1, 10))]))
    write_photographs(place, [Photograph(1, 1, 0.9, PICTURE), Photograph(1, 0, 0.8, PICTURE)])
    record = read(place)
    (path,) = save(card([record], [place]), tmp_path / "card.html")
    page = browser.new_page(viewport={"width": 420, "height": 740})
    seen = Seen(page)
    page.goto(path.as_uri())
    assert page.title() == place.name
    assert [each.inner_text() for each in page.locator(".tiles li").all()] == ["✓ 90 %", f"✗ {NASTY} 80 %"]
    assert page.locator(".tiles img").evaluate_all("(images) => images.map((image) => image.naturalWidth)") == [8, 8]
    assert page.locator(".tiles img").last.get_attribute("alt") == f"1, taken for {NASTY} (80 %)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    assert seen.complaints == []
    assert page.locator("script").count() == 1
    page.close()
