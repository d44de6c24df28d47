"""smoothpl show: print the card of a run: what it can do, and what it cannot"""

from collections.abc import Sequence
from pathlib import Path

from smoothpl.cli.arguments import read_arguments
from smoothpl.cli.messages import Terminal, say
from smoothpl.cli.usage import options_of
from smoothpl.errors import require

USAGE = """smoothpl show DIR... [out=card.html]

Prints what a run learned from, what it can do and what it cannot: data, labels,
error with its interval, collapsed classes, confusion, calibration, settings.
  smoothpl show outputs/folder/...
  smoothpl show outputs/sweeps/... out=card.md   all folds together

  DIR            the directory of a run, or one with runs of the same recipe on
                 other folds below it
  out=card.html  .html, .md, .csv or .tex; a folder gets all four"""


def main(arguments: Sequence[str]) -> None:
    typed = read_arguments(arguments, USAGE, *options_of(USAGE))
    from smoothpl.record.record import read_below
    from smoothpl.results.card import card
    from smoothpl.results.output import check_out, deliver, has_pictures

    out = Path(typed.options["out"]) if "out" in typed.options else None
    check_out(out)
    require(bool(typed.rest), "no run is named; --help says more.")
    records = read_below([Path(place) for place in typed.rest])
    for place, record in records.items():
        missing = [name for name in ("fold", "seed") if name not in record.config]
        require(not missing, f"{place}: the config of its record has no {', '.join(missing)}; name another run.")
    made = card(list(records.values()), list(records), with_pictures=has_pictures(out))
    for path in deliver(made, Terminal(), out):
        say(f"card: {path}")
