"""python -m benchmarks.scaling [out=scaling.png]: what a step costs beside the network as problems grow.

CPU time of one core: choosing the images of a step, and weighting their pseudo-labels by FlexMatch, the method with the
largest memory; against the number of classes, of unlabeled images, of images in a step, and of processes that share it.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from matplotlib.figure import Figure
from rich.console import Console
from torch import Tensor

from benchmarks.timing import compare
from smoothpl.data import Fold
from smoothpl.data.batches import Steps
from smoothpl.data.randomness import Stream
from smoothpl.pseudo import Beliefs, Curriculum, Power, Weighting, probabilities, pseudo_labels

TURNS = 5


class Sizes(NamedTuple):
    classes: int = 10
    unlabeled_images: int = 50_000
    unlabeled_of_a_step: int = 448
    processes: int = 1


USUAL = Sizes()
VALUES = {
    "classes": [10, 100, 1000],
    "unlabeled_images": [10**3, 10**4, 10**5, 10**6, 10**7],
    "unlabeled_of_a_step": [112, 224, 448, 896, 1792],
    "processes": [1, 2, 4, 8],
}


def main() -> None:
    out = Path(next((each.partition("=")[2] for each in sys.argv[1:] if each.startswith("out=")), "scaling.png"))
    figure = Figure(figsize=(11, 3), layout="constrained")
    for axes, (what, values) in zip(figure.subplots(1, 4), VALUES.items(), strict=True):
        found = [measure(Sizes(**{**USUAL._asdict(), what: value})) for value in values]
        for number, part in enumerate(("choosing images", "weighting")):
            axes.plot(values, [1e3 * seconds[number] for seconds in found], marker="o", label=part)
        axes.set(xscale="log", xlabel=what.replace("_", " "), ylim=0)
        axes.set_xticks(values, [short(value) for value in values])
        axes.minorticks_off()
        row = ", ".join(f"{value:g}: {1e3 * sum(parts):.2f} ms" for value, parts in zip(values, found, strict=True))
        Console().print(f"{what.replace('_', ' ')}: {row}", highlight=False)
    figure.axes[0].set_ylabel("ms of a step, one core")
    figure.axes[0].legend()
    figure.savefig(out)
    Console().print(f"picture: {out}", highlight=False)


def short(value: int) -> str:
    """1e6 for a million, so that neighbours do not run into each other."""
    digits = str(value)
    return f"1e{len(digits) - 1}" if value >= 1000 and digits.strip("0") == "1" else digits


def measure(sizes: Sizes) -> list[float]:
    """Seconds of choosing the images, and of weighting. Every process draws the whole step and remembers all of it."""
    fold = Fold(torch.arange(40), torch.arange(sizes.unlabeled_images))
    labeled, ratio = sizes.unlabeled_of_a_step // 7, 7
    steps = Steps(None, fold, None, labeled, ratio, 2**20, 0, num_ranks=sizes.processes)  # type: ignore[arg-type]

    def choose() -> None:
        steps.draws(Stream.LABELED, 7, steps.num_labeled).below(len(fold.labeled))
        steps.draws(Stream.UNLABELED, 7, steps.num_unlabeled).below(len(fold.unlabeled))

    image = torch.randint(sizes.unlabeled_images, (sizes.unlabeled_of_a_step,))
    return compare(choose, weigh(sizes, image), turns=TURNS, seconds=0.1)


def weigh(sizes: Sizes, image: Tensor) -> Callable[[], None]:
    weighting = Weighting(Curriculum(0.95, sizes.classes), Power())
    weighting.prepare(sizes.unlabeled_images)
    logits, labeled = 5 * torch.randn(len(image), sizes.classes), torch.randn(64, sizes.classes)
    label = torch.randint(sizes.classes, (64,))

    def step() -> None:
        pseudo = pseudo_labels(logits, image)
        weighting.see(Beliefs(pseudo, probabilities(labeled), label))
        weighting.observe(pseudo, weighting(pseudo))

    return step


if __name__ == "__main__":
    main()
