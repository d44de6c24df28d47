"""smoothpl suggest: choose the images to label next, with a page to label them on"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from smoothpl.cli.arguments import Arguments, read_options
from smoothpl.cli.messages import Terminal, say
from smoothpl.cli.usage import options_of
from smoothpl.errors import require
from smoothpl.io.atomic import write_text
from smoothpl.record.trained import directory_of, trained

if TYPE_CHECKING:
    from smoothpl.inference.suggestion_page import Found

USAGE = """smoothpl suggest run=DIR [n=20] [out=suggestions]

Suggests unlabeled images to label next: likely examples of classes that the
model rarely predicts with confidence, and images that it is unsure about and
that are unlike all labeled ones.
  smoothpl suggest run=outputs/folder/... n=20
Before there is any run, or any label: one image of each group that looks alike
to a backbone, the largest groups first.
  smoothpl suggest images=photos n=20

Writes suggestions.csv, a list, and suggestions.html, a page to click labels on,
in any browser, offline. It saves labels.csv: put it into the folder of images,
and resume: smoothpl train resume=outputs/folder/...
or begin: smoothpl train data=folder data.root=photos

  run=DIR                      the directory of a finished run with data=folder
  images=FOLDER                instead of run: images that have no run yet
  n=20                         how many
  out=suggestions              the files to write, without .csv or .html
  root=FOLDER                  with run: where its images are, if they moved
  trust=false                  with run: true allows a network that is not
                               smoothpl's own code
  backbone=efficientnet_lite0  with images: what tells which images look alike,
                               and its settings: backbone.size=224"""
MOST_PRINTED = 20
OF_RUN, OF_IMAGES = ("root", "trust"), ("backbone",)
KNOBS = "backbone."


def main(arguments: Sequence[str]) -> None:
    knobs = [word for word in arguments if word.startswith(KNOBS)]
    typed = read_options([word for word in arguments if word not in knobs], USAGE, *options_of(USAGE))
    number, out = typed.number("n", 20), typed.file("out", "suggestions")
    check_start(typed.options, knobs)
    found = of_run(typed, number) if "run" in typed.options else of_images(typed, knobs, number)
    from smoothpl.inference.suggestion_page import as_csv, as_page

    write_text(out.with_name(f"{out.name}.csv"), as_csv(found.shown))
    write_text(out.with_name(f"{out.name}.html"), as_page(found))
    console = Terminal()
    for each in found.shown[:MOST_PRINTED]:
        guess = "" if each.confidence is None else f"{each.guess} {each.confidence:.2f}  "
        console.print(f"{each.file!r}  {guess}{each.why}", markup=False, highlight=False)
    if len(found.shown) > MOST_PRINTED:
        say(f"... and {len(found.shown) - MOST_PRINTED} more")
    for suffix in (".csv", ".html"):
        say(f"suggestions: {out}{suffix}")


def check_start(options: Mapping[str, str], knobs: Sequence[str]) -> None:
    """One of run and images, and nothing that belongs to the other."""
    starts = [name for name in ("run", "images") if name in options]
    require(bool(starts), "run=... must be given, or images=... for first suggestions without a run; --help says more.")
    require(
        len(starts) == 1,
        f"run={options.get('run')} and images={options.get('images')}: suggestions come from a run, which knows its "
        "images (root=... if they have moved), or from images alone; leave one out.",
    )
    others = [f"{name}={options[name]}" for name in (OF_IMAGES if starts == ["run"] else OF_RUN) if name in options]
    others += knobs if starts == ["run"] else []
    require(not others, f"{' '.join(others)} has no effect with {starts[0]}=...; leave it out.")


def of_run(typed: Arguments, number: int) -> "Found":
    run_dir = directory_of(typed.options["run"])
    trained(run_dir)  # which needs no torch
    from smoothpl.inference.suggestion_page import find

    return find(run_dir, typed.options.get("root"), number, typed.flag("trust"))


def of_images(typed: Arguments, knobs: Sequence[str], number: int) -> "Found":
    from smoothpl.inference.first_suggestions import find_first

    backbone = typed.options.get("backbone", "efficientnet_lite0")
    return find_first(typed.options["images"], number, backbone, knobs)
