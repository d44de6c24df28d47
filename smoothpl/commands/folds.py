"""smoothpl folds: show which classes a fold has labels for"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.markup import escape
from rich.table import Table

from smoothpl.cli.arguments import read_arguments
from smoothpl.cli.messages import Terminal, say
from smoothpl.cli.usage import options_of
from smoothpl.config.overrides import CommandLine

if TYPE_CHECKING:
    from smoothpl.data import Fold, Source

USAGE = """smoothpl folds [knob=value ...] [out=FILE.png]

Counts the labeled and unlabeled images of each class in one fold, with the
knobs of smoothpl train:
  smoothpl folds split=imbalanced fold=2
With split=random also how far the labels are from uniform, for 40 to 150
labels and folds 0-5 (the paper's figure):
  smoothpl folds data=cifar10 split=random out=folds.png

  out=FILE.png   draw it, too"""


def main(arguments: Sequence[str]) -> None:
    typed = read_arguments(arguments, USAGE, *options_of(USAGE))
    out = typed.picture("out", "folds.png")
    from smoothpl.run.command_line import complete

    request = complete(CommandLine.parse(typed.rest))
    config = request.config()
    from smoothpl.data.folds import deviations_by_size, random
    from smoothpl.plots.class_balance import draw
    from smoothpl.run.build import build_data

    config.backbone = None  # labels need no features
    data = build_data(config, request.scan)
    data.setup("fit")
    console = Terminal()
    console.print(tabulate_classes(data.source, data.fold))
    deviations = None
    if getattr(data.split, "func", None) is random:
        deviations = deviations_by_size(data.source.train.labels, config.data.num_classes)
        console.print(tabulate_deviations(deviations))
    if "out" in typed.options:
        draw(data.source, data.fold, deviations, out)
        say(f"picture: {out}")


def tabulate_classes(source: "Source", fold: "Fold") -> Table:
    from smoothpl.data.folds import count_classes
    from smoothpl.data.source import STRANGER

    labels, num_classes = source.train.labels, len(source.class_names)
    labeled, unlabeled = (count_classes(labels[part], num_classes).tolist() for part in fold)
    num_strangers = int((labels[fold.unlabeled] == STRANGER).sum())
    num_unknown = len(fold.unlabeled) - sum(unlabeled) - num_strangers
    table = Table("class", box=box.SIMPLE_HEAD)
    for name in ("labeled", "unlabeled"):
        table.add_column(name, justify="right")
    for name, *counts in zip(source.class_names, labeled, unlabeled, strict=True):
        table.add_row(escape(name), *map(str, counts))
    if num_unknown:
        table.add_row("(unknown)", "", str(num_unknown))
    if num_strangers:
        table.add_row("(strangers)", "", str(num_strangers))
    table.add_row("all", str(len(fold.labeled)), str(len(fold.unlabeled)))
    return table


def tabulate_deviations(deviations: dict[int, list[float]]) -> Table:
    """Deviation of the class frequencies over their mean, as the paper draws it (Sec. 4.5)."""
    table = Table(
        title="deviation of class frequencies / mean frequency, by fold", title_justify="left", box=box.SIMPLE_HEAD
    )
    num_folds = len(next(iter(deviations.values())))
    for name in ("labels", *map(str, range(num_folds)), "mean"):
        table.add_column(name, justify="right")
    for size, values in deviations.items():
        table.add_row(str(size), *(f"{value:.2f}" for value in values), f"{sum(values) / len(values):.2f}")
    return table
