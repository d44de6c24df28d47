"""python -m benchmarks.ema: the update of the averaged network, all parameters at once, against one after the other."""

from collections.abc import Iterator
from copy import deepcopy

import torch

from benchmarks.line import Line, show
from benchmarks.timing import compare
from smoothpl.callbacks import EMA
from smoothpl.nets import WideResNet


def lines() -> Iterator[Line]:
    network = WideResNet(10, channels=3, depth=28, width=2, variant="torchssl", norm_momentum=0.001)
    live = [parameter.detach() for parameter in network.parameters()]
    first, second = ([parameter.detach() * 2 for parameter in deepcopy(network).parameters()] for _ in range(2))
    update = EMA(0.999).update
    for averaged in (first, second):
        for _ in range(3):
            update(averaged, live, 0)
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True)), "the same bits every time"

    def one_by_one() -> None:
        for averaged, parameter in zip(first, live, strict=True):
            averaged.copy_(averaged * 0.999 + parameter * 0.001)

    ours, usual = compare(lambda: update(second, live, 0), one_by_one)
    yield Line(
        "update of the average, WideResNet-28-2", 1e3 * ours, 1e3 * usual, "ms", "a loop over parameters", at_least=3
    )


if __name__ == "__main__":
    show(lines())
