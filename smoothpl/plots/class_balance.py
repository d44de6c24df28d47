"""The classes of a fold, and how far random labels are from uniform."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure  # not pyplot: nothing to open, nothing to close

from smoothpl.data import Fold, Source
from smoothpl.data.folds import count_classes


def draw(source: Source, fold: Fold, deviations: dict[int, list[float]] | None, out: Path) -> None:
    figure = Figure(figsize=(11 if deviations else 6, 4), layout="constrained")
    axes = figure.subplots(1, 2 if deviations else 1, squeeze=False)[0]
    draw_classes(axes[0], source, fold)
    if deviations:
        draw_deviations(axes[1], deviations)
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=120)


def draw_classes(axes: Axes, source: Source, fold: Fold) -> None:
    labels, num_classes = source.train.labels, len(source.class_names)
    for offset, (part, name) in enumerate(zip(fold, ("labeled", "unlabeled"), strict=True)):
        share = count_classes(labels[part], num_classes) / len(part)
        axes.bar([c + 0.4 * offset for c in range(num_classes)], share.tolist(), width=0.4, label=name)
    axes.set_xticks([c + 0.2 for c in range(num_classes)], source.class_names, rotation=45, ha="right")
    axes.set(title="classes of the fold", ylabel="share of images")
    axes.legend(loc="upper right", ncols=2)
    axes.set_ylim(top=1.2 * axes.get_ylim()[1])  # the legend covers no bar


def draw_deviations(axes: Axes, deviations: dict[int, list[float]]) -> None:
    """Deviations by the number of labels, a line for every fold."""
    sizes, folds = list(deviations), list(zip(*deviations.values(), strict=True))
    for number, values in enumerate(folds):
        axes.plot(sizes, values, color="0.7", label="one fold" if number == 0 else None)
    means = [sum(values) / len(values) for values in deviations.values()]
    axes.plot(sizes, means, color="C0", linewidth=3, label=f"mean of {len(folds)} folds")
    axes.set(title="how far random labels are from uniform", xlabel="labels", ylabel="deviation / mean frequency")
    axes.set_ylim(bottom=0)
    axes.legend()
