"""smoothpl report: compare runs pair by pair, in tables, statistics and figures"""

from collections.abc import Sequence
from pathlib import Path

from smoothpl.cli.arguments import read_arguments
from smoothpl.cli.messages import Terminal, say
from smoothpl.cli.usage import options_of
from smoothpl.errors import ConfigError
from smoothpl.record.trained import directory_of

USAGE = """smoothpl report DIR... [paper] [baseline=fixmatch] [out=report.html]

Groups the runs below DIR... by recipe, pairs them by benchmark, labels, fold
and seed, and compares each recipe with the baseline:
  smoothpl report outputs/sweeps/2026-11-17_05-27-47 out=report.html
  smoothpl report paper           the paper's figures, computed again
  smoothpl report paper outputs   your runs beside the paper's

  baseline=fixmatch   the method that the others are compared with
  protocol=last       last (the paper's), best or median20: which error counts
  statistics=exact    exact, pratt (ties are ranked) or paper (as old SciPy)
  duplicates=error    error, newest or oldest: what to do with two runs of the
                      same recipe, fold and seed
  out=report.html     .html, .md, .csv or .tex; a folder gets all four and the
                      figures"""


def main(arguments: Sequence[str]) -> None:
    typed = read_arguments(arguments, USAGE, *options_of(USAGE))
    from smoothpl.paper import paper_runs
    from smoothpl.paper.section import paper_section
    from smoothpl.results.output import check_out, deliver, has_pictures
    from smoothpl.results.report import Options, build_report
    from smoothpl.results.runs import PAPER, find_runs

    options = Options.parse({key: value for key, value in typed.options.items() if key != "out"})
    out = Path(typed.options["out"]) if "out" in typed.options else None
    check_out(out)
    folders = [directory_of(place) for place in typed.rest if place != PAPER]
    unknown = [str(folder) for folder in folders if "=" in str(folder) and not folder.exists()]
    if unknown or not typed.rest:
        wrong = f"{unknown[0]} is not an option of the report" if unknown else "no folder of runs is named"
        raise ConfigError(f"{wrong}; --help says more.")
    runs = find_runs(folders, options.protocol) if folders else []
    with_paper = PAPER in typed.rest
    report = build_report(
        runs + (paper_runs() if with_paper else []),
        options,
        with_pictures=has_pictures(out),
        appendix=[paper_section()] if with_paper else [],
    )
    for path in deliver(report, Terminal(), out):
        say(f"report: {path}")
