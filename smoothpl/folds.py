"""python -m smoothpl.folds: which classes a fold has labels for, as a table and, with out=FILE, as a picture."""

from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import DictConfig
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from smoothpl.cli.arguments import read_command_line
from smoothpl.cli.front_door import run_command

if TYPE_CHECKING:
    from torch import Tensor

    from smoothpl.data import Fold, Source

SIZES = range(40, 160, 10)  # the paper's: 40, 50, ..., 150 labels
FOLDS = range(6)
USAGE = """python -m smoothpl.folds [knob=value ...] [out=FILE.png]

The class distribution of one fold, with the knobs of smoothpl.train:
  python -m smoothpl.folds split=imbalanced fold=2
With split=random also how far the labels are from uniform, for 40 to 150
labels and folds 0-5 (the paper's figure); out= draws both:
  python -m smoothpl.folds data=cifar10 split=random out=folds.png"""


def main() -> None:
    config, words = read_command_line(USAGE, "out")
    show(config, Path(words["out"]) if "out" in words else None)


def show(config: DictConfig, out: Path | None) -> None:
    from smoothpl.build import build_data

    data = build_data(config)
    data.setup("fit")
    console = Console()
    console.print(tabulate_classes(data.source, data.fold))
    deviations = None
    if config.split._target_.endswith(".random"):
        deviations = deviations_by_size(data.source.train.labels, config)
        console.print(tabulate_deviations(deviations))
    if out is not None:
        draw(data.source, data.fold, deviations, out)
        console.print(f"picture: {out}", soft_wrap=True, markup=False, highlight=False)


def tabulate_classes(source: "Source", fold: "Fold") -> Table:
    from smoothpl.data.folds import count_classes

    labels, num_classes = source.train.labels, len(source.class_names)
    labeled, unlabeled = (count_classes(labels[part], num_classes).tolist() for part in fold)
    table = Table("class", box=box.SIMPLE_HEAD)
    for name in ("labeled", "unlabeled"):
        table.add_column(name, justify="right")
    for name, *counts in zip(source.class_names, labeled, unlabeled, strict=True):
        table.add_row(escape(name), *map(str, counts))
    table.add_row("all", str(sum(labeled)), str(sum(unlabeled)))
    return table


def deviations_by_size(labels: "Tensor", config: DictConfig) -> dict[int, list[float]]:
    """For every number of labels that the data can fill, the normalised deviation of each fold."""
    from smoothpl.data import random
    from smoothpl.data.folds import normalised_deviation

    return {
        size: [
            normalised_deviation(labels[random(labels, size, fold, True).labeled], config.data.num_classes)
            for fold in FOLDS
        ]
        for size in SIZES
        if size <= len(labels)
    }


def tabulate_deviations(deviations: dict[int, list[float]]) -> Table:
    """Deviation of the class frequencies over their mean, as the paper draws it (Sec. 4.5)."""
    table = Table(
        title="deviation of class frequencies / mean frequency, by fold", title_justify="left", box=box.SIMPLE_HEAD
    )
    for name in ("labels", *map(str, FOLDS), "mean"):
        table.add_column(name, justify="right")
    for size, values in deviations.items():
        table.add_row(str(size), *(f"{value:.2f}" for value in values), f"{sum(values) / len(values):.2f}")
    return table


def draw(source: "Source", fold: "Fold", deviations: dict[int, list[float]] | None, out: Path) -> None:
    from matplotlib.figure import Figure  # not pyplot: nothing to open, nothing to close

    from smoothpl.data.folds import count_classes

    labels, num_classes = source.train.labels, len(source.class_names)
    figure = Figure(figsize=(11 if deviations else 6, 4), layout="constrained")
    axes = figure.subplots(1, 2 if deviations else 1, squeeze=False)[0]
    for offset, (part, name) in enumerate(zip(fold, ("labeled", "unlabeled"), strict=True)):
        share = count_classes(labels[part], num_classes) / len(part)
        axes[0].bar([c + 0.4 * offset for c in range(num_classes)], share.tolist(), width=0.4, label=name)
    axes[0].set_xticks([c + 0.2 for c in range(num_classes)], source.class_names, rotation=45, ha="right")
    axes[0].set(title="classes of the fold", ylabel="share of images")
    axes[0].legend(loc="upper right", ncols=2)
    axes[0].set_ylim(top=1.2 * axes[0].get_ylim()[1])  # the legend covers no bar
    if deviations:
        for number in FOLDS:
            values = [by_fold[number] for by_fold in deviations.values()]
            axes[1].plot(list(deviations), values, color="0.7", label="one fold" if number == 0 else None)
        means = [sum(values) / len(values) for values in deviations.values()]
        axes[1].plot(list(deviations), means, color="C0", linewidth=3, label="mean of 6 folds")
        axes[1].set(
            title="how far random labels are from uniform", xlabel="labels", ylabel="deviation / mean frequency"
        )
        axes[1].set_ylim(bottom=0)
        axes[1].legend()
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=120)


if __name__ == "__main__":
    run_command(main)
