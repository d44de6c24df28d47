"""python -m benchmarks.steps: what it costs to choose the images of a step, in time against their views, and in memory.

One core, 64 labeled and 448 unlabeled images, real CIFAR-10 (SMOOTHPL_DATA). TorchSSL lists the indices of all 2^20
steps beforehand: 470 million numbers.
"""

import resource

from rich.console import Console
from rich.table import Table

from benchmarks.setting import data_for
from benchmarks.timing import compare
from smoothpl.data.randomness import Stream


def main() -> None:
    knobs = ("batch_size=64", "unlabeled_ratio=7", "max_steps=1048576")
    data = data_for("data=cifar10", "views=torchssl", *knobs)
    before = peak()
    loader = data.train_dataloader()
    steps = loader.dataset
    order = iter(loader.sampler)
    for _ in range(3):
        steps[next(order)]
    grown = peak() - before

    def choose() -> None:
        steps.drawing(Stream.LABELED, 7, steps.num_labeled).below(len(steps.fold.labeled))
        steps.drawing(Stream.UNLABELED, 7, steps.num_unlabeled).below(len(steps.fold.unlabeled))

    choice, whole = compare(choose, lambda: data.views.of_step(steps[7]))
    table = Table("one step of 64 + 448 images", "", title="one core")
    table.add_row("choosing the images", f"{1e3 * choice:.3f} ms of CPU")
    table.add_row("reading them and making their views", f"{1e3 * whole:.3f} ms of CPU")
    table.add_row("share of the choice", f"{100 * choice / (whole - choice):.2f} %")
    table.add_row("memory for 2^20 steps, three of them made", f"{grown / 1024:.0f} MiB")
    Console().print(table)


def peak() -> int:
    """Largest memory so far, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
