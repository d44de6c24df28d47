import re
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from smoothpl.errors import ConfigError
from smoothpl.results.output import check_out, has_pictures, save, show
from smoothpl.results.report import Options, Report, Section, build_report
from smoothpl.results.runs import find_runs
from smoothpl.results.sheets import Cell, Column, Sheet
from tests.support.made_up import store_all


def test_charts_stand_beside_the_sentences(tmp_path: Path) -> None:
    """Each in a file of its own, with colours of its own, and where the Markdown looks for it."""
    report = build_report(find_runs([store_all(tmp_path / "runs")]), Options())
    assert [path.name for path in save(report, tmp_path / "all")] == [
        *("report.html", "report.md", "report.csv", "report.tex")
    ]
    named = re.findall(r"!\[[^\]]+\]\((\S+)\)", (tmp_path / "all" / "report.md").read_text())
    assert len(named) == len(set(named)) == 6  # errors, gains, curves, and a confusion for each of three methods
    for name in named:
        root = ElementTree.parse(tmp_path / "all" / name).getroot()
        assert root.tag.endswith("svg")
        assert "currentColor" not in (tmp_path / "all" / name).read_text()


def test_a_folder_whose_name_has_a_dot_gets_every_format(tmp_path: Path) -> None:
    """That of a sweep over policy.quantiles=soft, for example."""
    report, folder = build_report(find_runs([store_all(tmp_path / "runs")]), Options()), tmp_path / "policy.quantiles"
    folder.mkdir()
    check_out(folder)
    assert has_pictures(folder)
    save(report, folder)
    assert {path.name for path in folder.glob("report.*")} == {
        f"report.{each}" for each in ("html", "md", "csv", "tex")
    }


def test_a_terminal_shows_the_abridged_sheet_and_files_have_the_whole(tmp_path: Path) -> None:
    columns = [Column("name", is_number=False)]
    short = Sheet("A sheet", columns, [[Cell("one")]], ["and two"])
    whole = Sheet("A sheet", columns, [[Cell("one")], [Cell("other")]], abridged=short)
    report = Report("title", "about", "legend", [Section("section", sheets=[whole])], [])
    console = Console(file=StringIO(), width=80)
    show(report, console)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "one" in shown
    assert "and two" in shown
    assert "other" not in shown
    save(report, tmp_path / "report.md")
    assert "| other |" in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(("out", "drawn"), [(None, False), ("r.md", False), ("r.html", True), ("folder", True)])
def test_pages_and_folders_have_charts(out: str | None, drawn: bool) -> None:
    place = None if out is None else Path(out)
    check_out(place)
    assert has_pictures(place) == drawn


def test_an_unknown_format_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"out=report\.pdf must end with \.html, \.md, \.csv, \.tex"):
        check_out(Path("report.pdf"))
