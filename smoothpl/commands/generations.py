"""smoothpl generations: train again and again, the surest pseudo-labels as labels"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from smoothpl.cli.arguments import read_arguments
from smoothpl.cli.messages import Terminal, say
from smoothpl.cli.usage import options_of
from smoothpl.config.overrides import CommandLine
from smoothpl.errors import Interruption

if TYPE_CHECKING:  # torch is imported late: --help and a typo must not take seconds
    from smoothpl.run.generations import Generation

USAGE = """smoothpl generations [knob=value ...] [generations=6]

Trains, lets the network label the unlabeled images, adds the surest of every
class to the labels, of rare classes more than of frequent ones, and trains
again from scratch, with labels picked anew each time (CReST):
  smoothpl generations method=fixmatch benchmark=digits_long_tailed
  smoothpl generations method=fixmatch align=tempered_labels   # CReST+
  smoothpl generations method=smooth    # picked images weigh by a ramp in rank

Each generation is a run with a record, below outputs/generations; the same
command goes on where it was stopped, and smoothpl report compares them.

  generations=6   how many; with 1, an ordinary run"""


def main(arguments: Sequence[str]) -> None:
    typed = read_arguments(arguments, USAGE, *options_of(USAGE))
    number = typed.number("generations", 6)
    from smoothpl.run.command_line import complete
    from smoothpl.run.generations import generations

    line = complete(CommandLine.parse(typed.rest)).line
    config = complete(line).config()
    done: list[Generation] = []
    try:
        for each in generations(config, number, line.words_to_compose):
            done.append(each)
            say(describe(each, number))
    except Interruption as error:
        sys.exit(f"\ninterrupted by {error}; the same command goes on where it was.")
    Terminal().print(tabulate(done))


def describe(generation: "Generation", number: int) -> str:
    error = generation.record.error
    labels = f"{len(generation.record.labeled)} labels and {generation.num_picked} picked"
    said = "no error rate" if error is None else f"{error:.2f} % error"
    return f"Generation {generation.number + 1} of {number}, {labels}: {said}. {generation.place}"


def tabulate(done: "Sequence[Generation]") -> Table:
    from torch import tensor

    from smoothpl.metrics.confusion import balanced_error

    table = Table(box=box.SIMPLE_HEAD)
    for name in ("generation", "labels", "picked", "error, %", "balanced, %"):
        table.add_column(name, justify="right")
    for each in done:
        record = each.record
        errors = (record.error, balanced_error(tensor(record.confusion)) if record.confusion else None)
        counts = (str(each.number + 1), str(len(record.labeled)), str(each.num_picked))
        table.add_row(*counts, *("-" if error is None else f"{error:.2f}" for error in errors))
    return table
