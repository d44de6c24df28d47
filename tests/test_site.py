"""make docs: the documents as a site that needs nothing from the network."""

import re
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


class Loads(HTMLParser):
    """What a browser fetches to show a page, without a click."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.found.append(given.get("href") or "")
        self.found += [given[name] or "" for name in ("src", "srcset", "poster", "data") if name in given]
        self.found += re.findall(r"url\(([^)]+)\)", given.get("style") or "")


@pytest.mark.skipif(
    not all(map(find_spec, ("mkdocs", "material", "mkdocstrings"))),
    reason="no mkdocs here: pip install 'smoothpl[docs]'",
)
@pytest.mark.filterwarnings("default")
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=True))
    pages = {path: path.read_text() for path in tmp_path.rglob("*.html")}
    assert len(pages) >= 14
    for path, page in pages.items():
        loads = Loads(page).found
        assert len(loads) >= 4, path
        assert not [each for each in loads if re.match(r"\s*(\w+:)?//", each)], path
    for path in tmp_path.rglob("*.css"):
        assert not re.findall(r"(?:@import\s*|url\()['\"]?(?:https?:)?//[^)]*", path.read_text()), path
    assert "var __index = " in (tmp_path / "search" / "search_index.js").read_text()
    assert "Smooth FlexMatch" in pages[tmp_path / "library.html"]
    assert "of_labeled" in pages[tmp_path / "library" / "parts.html"]
