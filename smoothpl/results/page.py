"""The report as one HTML page that needs nothing but a browser."""

import os
import re
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from smoothpl.results.report import Report


def to_html(report: Report, folder: Path) -> str:
    """The text of a page in `folder`, from which its links lead to the directories of runs."""
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)  # names may hold < and &
    environment.filters["address"] = lambda place: quote(Path(os.path.relpath(place, folder)).as_posix())
    environment.filters["breakable"] = breakable
    return environment.get_template("page.html.jinja").render(report=report)


def breakable(text: str) -> Markup:
    """Lets a browser wrap the name of a recipe or a path after a comma or a slash, and not anywhere."""
    return Markup(re.sub(r"(?<=[,/])(?=\S)", "<wbr>", str(escape(text))))
