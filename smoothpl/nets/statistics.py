"""Which forwards move the running statistics of BatchNorm, and which do not."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm


@contextmanager
def resting_statistics(network: nn.Module) -> Iterator[None]:
    """A batch is still normalised by its own statistics, but leaves the running ones alone."""
    parts = [part for part in network.modules() if isinstance(part, _BatchNorm) and part.track_running_stats]
    kept = [(part.training, part.momentum, part.num_batches_tracked) for part in parts]
    for part in parts:
        part.training, part.momentum = True, 0.0
        part.num_batches_tracked = None  # it is not counted, either
    try:
        yield
    finally:
        for part, (training, momentum, counted) in zip(parts, kept, strict=True):
            part.training, part.momentum, part.num_batches_tracked = training, momentum, counted
