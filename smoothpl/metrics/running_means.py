"""Means of training metrics between two log lines, gathered on the device without waiting for it."""

import torch
from torch import Tensor, nn

from smoothpl.ranks import share_mean


class RunningMeans(nn.Module):
    """Means of a few scalars over the steps since the last `flush`.

    torchmetrics' MeanMetric looks for NaN on the host at every update; this adds one small vector on the device, and
    copies it once per flush.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self.names = names
        self.sums: Tensor
        self.register_buffer("sums", torch.zeros(1 + len(names)))  # the number of steps comes first

    def add(self, scalars: dict[str, Tensor]) -> None:
        values = [scalars[name].detach() for name in self.names]
        self.sums += torch.stack([torch.ones_like(values[0]), *values])

    def means(self) -> dict[str, float]:
        share_mean(self.sums)
        count, *sums = self.sums.tolist()
        return {name: total / max(count, 1) for name, total in zip(self.names, sums, strict=True)}

    def flush(self) -> dict[str, float]:
        means = self.means()
        self.sums.zero_()
        return means
