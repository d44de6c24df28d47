"""The report as one HTML page that needs nothing but a browser."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from smoothpl.results.reporting import Report


def to_html(report: Report) -> str:
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)  # names may hold < and &
    return environment.get_template("page.html.jinja").render(report=report)
