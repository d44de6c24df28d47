"""A report where it is read: printed in the terminal, or saved as HTML, Markdown, CSV and LaTeX."""

from pathlib import Path

from rich.console import Console

from smoothpl.errors import ConfigError
from smoothpl.io.atomic import write_text
from smoothpl.layout import REPORT, REPORT_PICTURES
from smoothpl.results.render import plain_markdown, to_csv, to_latex, to_markdown, to_terminal
from smoothpl.results.report import Report, Section

FORMATS = (".html", ".md", ".csv", ".tex")


def check_out(out: Path | None) -> None:
    """Called before any work is done."""
    if out is not None and format_of(out) not in ("", *FORMATS):
        raise ConfigError(f"out={out} must end with {', '.join(FORMATS)}, or be a folder, which gets all of them.")


def has_pictures(out: Path | None) -> bool:
    """Whether charts are drawn: a page and a folder have them, a single file of tables has not."""
    return out is not None and format_of(out) in ("", ".html")


def format_of(out: Path) -> str:
    """Empty for a folder, whose own name may have a dot: that of a sweep over policy.quantiles=soft."""
    return "" if out.is_dir() else out.suffix


def deliver(report: Report, console: Console, out: Path | None) -> list[Path]:
    """The files it was saved to. Neither a pipe that closes nor a disk that is full loses both."""
    try:
        return [] if out is None else save(report, out)
    finally:
        show(report, console)


def show(report: Report, console: Console) -> None:
    for section in report.sections:
        console.print(section.title, style="bold", markup=False, highlight=False)
        for sentence in section.sentences:
            console.print(f"- {sentence}", markup=False, highlight=False)
        for sheet in section.sheets:
            shown = sheet.abridged or sheet
            console.print(to_terminal(shown, console.width))
            for note in shown.notes:
                console.print(note, style="dim", markup=False, highlight=False)
            console.print()
    console.print(report.legend, style="dim", markup=False, highlight=False)


def save(report: Report, out: Path) -> list[Path]:
    is_folder = not format_of(out)
    paths = [out / f"{REPORT}{suffix}" for suffix in FORMATS] if is_folder else [out]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, as_text(report, path))
    if is_folder and report.charts:
        (out / REPORT_PICTURES).mkdir(exist_ok=True)
        for chart in report.charts:
            write_text(out / REPORT_PICTURES / chart.file_name, chart.alone)
    return paths


def as_text(report: Report, path: Path) -> str:
    """The report in the format of the file's suffix."""
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
    sentences = "".join(f"- {plain_markdown(each)}\n" for each in section.sentences)
    pictures = [f"![{plain_markdown(each.caption)}]({REPORT_PICTURES}/{each.file_name})\n" for each in section.charts]
    return f"## {section.title}\n\n{sentences}\n" + "\n".join([*map(to_markdown, section.sheets), *pictures])
