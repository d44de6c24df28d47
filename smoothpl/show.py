"""python -m smoothpl.show: the card of a run, to be handed over with it."""

from pathlib import Path

from rich.console import Console

from smoothpl.cli.arguments import read_words
from smoothpl.cli.front_door import run_command
from smoothpl.errors import ConfigError, require
from smoothpl.layout import RECORD
from smoothpl.record.record import Record, read
from smoothpl.report import check_out, save, show

USAGE = """python -m smoothpl.show DIR... [out=card.html]

What a run was made of, what it can do and what it cannot: data, labels, error
with its interval, collapsed classes, confusion, calibration, configuration.
  python -m smoothpl.show outputs/folder/...
  python -m smoothpl.show outputs/sweeps/... out=card.md   all folds together

  DIR            the directory of a run, or one with runs of the same recipe on
                 other folds below it
  out=card.html  .html, .md, .csv or .tex; a folder gets all of them"""


def main() -> None:
    places, words = read_words(USAGE, "out")
    out = Path(words["out"]) if "out" in words else None
    check_out(out)
    require(bool(places), "no run is named; --help shows how this command is called.")
    records = find([Path(place) for place in places])
    from smoothpl.results.card import card

    made = card(list(records.values()), list(records), with_pictures=out is not None and out.suffix in ("", ".html"))
    show(made, Console())
    if out is not None:
        for path in save(made, out):
            Console().print(f"card: {path}", soft_wrap=True, markup=False, highlight=False)


def find(places: list[Path]) -> dict[Path, Record]:
    found: dict[Path, Record] = {}
    for place in places:
        paths = sorted(place.rglob(RECORD))
        if not paths:
            raise ConfigError(f"{place} holds no run: there is no {RECORD} below it; name the directory of a run.")
        found |= {path.parent: read(path.parent) for path in paths}
    return found


if __name__ == "__main__":
    run_command(main)
