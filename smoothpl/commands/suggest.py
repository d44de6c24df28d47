"""smoothpl suggest: choose the images to label next, with a page to label them on"""

from collections.abc import Sequence

from smoothpl.cli.arguments import read_options
from smoothpl.cli.messages import Terminal, say
from smoothpl.cli.usage import options_of
from smoothpl.io.atomic import write_text
from smoothpl.record.trained import directory_of, trained

USAGE = """smoothpl suggest run=DIR [n=20] [out=suggestions]

Suggests unlabeled images to label next: likely examples of classes that the
model rarely predicts with confidence, and images that it is unsure about and
that are unlike all labeled ones.
  smoothpl suggest run=outputs/folder/... n=20

Writes suggestions.csv, a list, and suggestions.html, a page to click labels on,
in any browser, offline. It saves labels.csv: put it into the folder of images,
and resume: smoothpl train resume=outputs/folder/...

  run=DIR            the directory of a finished run with data=folder
  n=20               how many
  out=suggestions    the files to write, without .csv or .html
  root=FOLDER        where the images are, if they have moved
  trust=false        true: allow a network that is not smoothpl's own code"""
MOST_PRINTED = 20


def main(arguments: Sequence[str]) -> None:
    typed = read_options(arguments, USAGE, *options_of(USAGE), needed=("run",))
    number, out = typed.number("n", 20), typed.file("out", "suggestions")
    run_dir = directory_of(typed.options["run"])
    trained(run_dir)  # which needs no torch
    from smoothpl.inference.suggestion_page import as_csv, as_page, find

    found = find(run_dir, typed.options.get("root"), number, typed.flag("trust"))
    write_text(out.with_name(f"{out.name}.csv"), as_csv(found.shown))
    write_text(out.with_name(f"{out.name}.html"), as_page(found))
    console = Terminal()
    for each in found.shown[:MOST_PRINTED]:
        console.print(f"{each.file!r}  {each.guess} {each.confidence:.2f}  {each.why}", markup=False, highlight=False)
    if len(found.shown) > MOST_PRINTED:
        say(f"... and {len(found.shown) - MOST_PRINTED} more")
    for suffix in (".csv", ".html"):
        say(f"suggestions: {out}{suffix}")
