"""python -m smoothpl.report: what many runs say together, in tables, statistics and pictures."""

from dataclasses import fields, replace
from pathlib import Path
from typing import get_args

from rich.console import Console

from smoothpl.cli.arguments import read_words
from smoothpl.cli.front_door import run_command
from smoothpl.errors import ConfigError
from smoothpl.io.atomic import write_text
from smoothpl.layout import REPORT_PICTURES
from smoothpl.paper import paper_runs
from smoothpl.results.comparison import Statistics
from smoothpl.results.pairing import Duplicates
from smoothpl.results.render import plain_markdown, to_csv, to_latex, to_markdown, to_terminal
from smoothpl.results.reporting import Options, Report, Section, build_report
from smoothpl.results.runs import PAPER, Protocol, find_runs
from smoothpl.results.sheets import Cell, Sheet

USAGE = """python -m smoothpl.report DIR... [paper] [baseline=fixmatch] [out=report.html]

Groups the runs below DIR... by recipe, pairs them by benchmark, labels, fold
and seed, and compares each recipe with the baseline:
  python -m smoothpl.report outputs/sweeps/2026-11-17_05-27-47 out=report.html
  python -m smoothpl.report paper           the paper's figures, made again
  python -m smoothpl.report paper outputs   your runs beside the paper's

  baseline=fixmatch   the method that the others are compared with
  protocol=last       last (the paper's), best or median20
  statistics=exact    exact, pratt (level pairs are ranked) or paper (old SciPy)
  duplicates=error    of one recipe, fold and seed: error, newest or oldest
  out=report.html     .html, .md, .csv or .tex; a folder gets all of them, and
                      the pictures"""
CHOICES = {"protocol": get_args(Protocol), "statistics": get_args(Statistics), "duplicates": get_args(Duplicates)}
FORMATS = (".html", ".md", ".csv", ".tex")


def main() -> None:
    places, words = read_words(USAGE, *(each.name for each in fields(Options)), "out")
    options = read_options(words)
    out = Path(words["out"]) if "out" in words else None
    check_out(out)
    folders = [Path(place) for place in places if place != PAPER]
    wrong = [str(folder) for folder in folders if "=" in str(folder) and not folder.exists()]
    if wrong or not places:
        said = f"{wrong[0]} is not a knob of the report" if wrong else "no runs are named"
        raise ConfigError(f"{said}; --help shows how it is called.")
    runs = find_runs(folders, options.protocol) if folders else []
    if PAPER in places:
        runs += paper_runs()
    report = build_report(runs, options, with_pictures=out is not None and out.suffix in ("", ".html"))
    show(report, Console())
    if out is not None:
        for path in save(report, out):
            Console().print(f"report: {path}", soft_wrap=True, markup=False, highlight=False)


def read_options(words: dict[str, str]) -> Options:
    for name, choices in CHOICES.items():
        if words.get(name, choices[0]) not in choices:
            raise ConfigError(f"{name}={words[name]} must be one of {', '.join(choices)}.")
    return replace(Options(), **{name: value for name, value in words.items() if name != "out"})  # type: ignore[arg-type]


def check_out(out: Path | None) -> None:
    """Before any work is done."""
    if out is not None and out.suffix not in ("", *FORMATS):
        raise ConfigError(f"out={out} must end with {', '.join(FORMATS)}, or be a folder, which gets all of them.")


def show(report: Report, console: Console) -> None:
    for section in report.sections:
        console.print(section.title, style="bold", markup=False, highlight=False)
        for words in section.words:
            console.print(words, markup=False, highlight=False)
        for sheet in section.sheets:
            shown = remarkable(sheet) if section.title.startswith("The paper") else sheet
            console.print(to_terminal(shown, console.width))
            for note in shown.notes:
                console.print(note, style="dim", markup=False, highlight=False)
            console.print()
    console.print(report.legend, style="dim", markup=False, highlight=False)


def remarkable(sheet: Sheet) -> Sheet:
    """What needs a word, with the words below; what is as published is counted, and in the files."""
    rows = [row for row in sheet.rows if row[-1].text or row[-2].text == "no"]
    remarks = list(dict.fromkeys(row[-1].text for row in rows))
    numbered = [[*row[:-1], Cell(f"({remarks.index(row[-1].text) + 1})")] for row in rows]
    notes = [f"({number}) {remark}." for number, remark in enumerate(remarks, start=1)]
    return replace(sheet, rows=numbered, notes=[*notes, *sheet.notes])


def save(report: Report, out: Path) -> list[Path]:
    paths = [out] if out.suffix else [out / f"report{suffix}" for suffix in FORMATS]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, written(report, path))
    if not out.suffix and report.drawings:
        (out / REPORT_PICTURES).mkdir(exist_ok=True)
        for drawing in report.drawings:
            write_text(out / REPORT_PICTURES / drawing.file_name, drawing.alone)
    return paths


def written(report: Report, path: Path) -> str:
    if path.suffix == ".html":
        from smoothpl.results.page import to_html

        return to_html(report, path.resolve().parent)
    if path.suffix == ".csv":
        return to_csv([*report.sheets, *([report.list_of_runs] if report.runs else [])])
    if path.suffix == ".tex":
        return f"% needs \\usepackage{{booktabs}}\n% {report.legend}\n" + "\n".join(map(to_latex, report.sheets))
    sections = "\n".join(map(section_in_markdown, report.sections))
    return f"# {plain_markdown(report.title)}\n\n{plain_markdown(report.about)}\n\n{sections}\n{report.legend}\n"


def section_in_markdown(section: Section) -> str:
    words = "".join(f"- {plain_markdown(each)}\n" for each in section.words)
    pictures = [f"![{plain_markdown(each.caption)}]({REPORT_PICTURES}/{each.file_name})\n" for each in section.drawings]
    return f"## {section.title}\n\n{words}\n" + "\n".join([*map(to_markdown, section.sheets), *pictures])


if __name__ == "__main__":
    run_command(main)
