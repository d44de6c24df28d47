"""The report as one HTML page that needs nothing but a browser."""

import os
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader

from smoothpl.results.report import Report


def to_html(report: Report, folder: Path) -> str:
    """The text of a page in `folder`, from which its links lead to the directories of runs."""
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)  # names may hold < and &
    environment.filters["address"] = lambda place: quote(Path(os.path.relpath(place, folder)).as_posix())
    return environment.get_template("page.html.jinja").render(report=report)
