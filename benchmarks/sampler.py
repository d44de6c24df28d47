"""python -m benchmarks.sampler: what it costs to choose the images of a step, in time and in memory.

One core, 64 labeled and 448 unlabeled images, real CIFAR-10 (SMOOTHPL_DATA). TorchSSL lists the indices of all 2^20
steps beforehand: 470 million numbers, 19 GiB at the peak.
"""

import resource
from collections.abc import Iterator

from benchmarks.line import Line, show
from benchmarks.setting import data_for
from benchmarks.timing import compare
from smoothpl.data import SemiSupervisedData, Steps
from smoothpl.data.randomness import Stream

SHORT, LONG = 8, 2**20


def lines() -> Iterator[Line]:
    for _ in range(3):  # until the images of a short run fit into memory that was used before
        draw_some(data_of(SHORT))
    before = peak()
    data = data_of(LONG)
    draw_some(data)
    grown = (peak() - before) / 1024
    steps = data.train_dataloader().dataset
    assert isinstance(steps, Steps)

    def choose() -> None:
        steps.draws(Stream.LABELED, 7, steps.num_labeled).below(len(steps.fold.labeled))
        steps.draws(Stream.UNLABELED, 7, steps.num_unlabeled).below(len(steps.fold.unlabeled))

    choice, whole = compare(choose, lambda: data.views.of_step(steps[7]))
    yield Line(
        "choosing the 64 + 448 images of a step", 1e3 * choice, 1e3 * whole, "ms", "reading them, and their views"
    )
    yield Line(
        "memory for choosing those of 2^20 steps", grown, 19 * 1024, "MB", "a list of all indices, TorchSSL", limit=1
    )


def data_of(max_steps: int) -> SemiSupervisedData:
    return data_for("data=cifar10", "views=torchssl", "batch_size=64", "unlabeled_ratio=7", f"max_steps={max_steps}")


def draw_some(data: SemiSupervisedData) -> None:
    loader = data.train_dataloader()
    order = iter(loader.sampler)
    for _ in range(3):
        loader.dataset[next(order)]


def peak() -> int:
    """Largest memory so far, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    show(lines())
