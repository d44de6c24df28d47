"""The documents: what they name exists, the README is short, and the site needs nothing from the network."""

import re
import tomllib
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tests.test_layers import LAYERS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def test_the_readme_fits_on_a_screen_or_three() -> None:
    lines = README.read_text().splitlines()
    assert len(lines) <= 150
    blocks = re.findall(r"^```.*?^```", README.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    assert max(len(line) for block in blocks for line in block.splitlines()) <= 80


@pytest.mark.parametrize("path", [README, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=str)
def test_every_link_leads_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if not link.startswith(("http", "#")):
            assert (path.parent / link.partition("#")[0]).is_file(), link


def test_the_tree_of_the_house_is_the_tree() -> None:
    tree = (ROOT / "CONTRIBUTING.md").read_text().partition("```\nsmoothpl/\n")[2].partition("```")[0]
    named, folders = set(), {0: Path("smoothpl")}
    for line in tree.splitlines():
        indent, name = re.match(r"( {0,4})(\S+)?", line).groups()  # type: ignore[union-attr]
        if name is not None and not line.startswith(" " * 5):
            place = Path(name) if not indent else folders[len(indent) - 2] / name
            folders[len(indent)] = place
            named.add(place.as_posix())
            assert (ROOT / place).is_dir() if name.endswith("/") else (ROOT / place).is_file(), place
    parts = [
        path for path in (ROOT / "smoothpl").iterdir() if path.name not in ("__init__.py", "__pycache__", "py.typed")
    ]
    assert {path.relative_to(ROOT).as_posix() for path in parts} <= named


def test_the_layers_that_are_drawn_are_those_that_are_held() -> None:
    drawn = (ROOT / "CONTRIBUTING.md").read_text().partition("```\ncommands/")[2].partition("```")[0]
    layers = [{name.rstrip("/") for name in line.split()} for line in f"commands/{drawn}".splitlines()]
    assert layers == LAYERS[::-1]


def test_every_test_that_a_promise_names_is_there() -> None:
    text = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+?)(?:\.\.\.)?)?`", text)
    assert len(named) >= 20
    for file, name in named:
        assert f"def {name}" in (ROOT / file).read_text(), name


def test_the_version_is_that_of_the_citation() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == version


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
