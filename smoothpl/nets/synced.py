"""BatchNorm over the whole batch when it is spread over processes, on CPUs too."""

from typing import Any

import torch
from torch import Tensor, distributed, nn


class SyncedBatchNorm2d(nn.BatchNorm2d):
    """Statistics of all ranks together, as one process with the whole batch would have them.

    torch's SyncBatchNorm, which a GPU uses, refuses CPUs; this one takes any backend, and ranks of equal share.
    """

    def forward(self, images: Tensor) -> Tensor:
        if not self.training:
            return super().forward(images)
        ranks = distributed.get_world_size()
        mean: Tensor = SumOverRanks.apply(images.mean(dim=(0, 2, 3))) / ranks
        centred = images - mean.view(1, -1, 1, 1)
        # In a second pass: the mean of squares minus the square of the mean would lose half of the digits.
        variance: Tensor = SumOverRanks.apply(centred.square().mean(dim=(0, 2, 3))) / ranks
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            count = images.numel() // images.shape[1] * ranks
            momentum = 0.0 if self.momentum is None else self.momentum
            with torch.no_grad():
                self.running_mean.lerp_(mean, momentum)
                self.running_var.lerp_(variance * count / (count - 1), momentum)
                self.num_batches_tracked += 1
        scale: Tensor = self.weight * torch.rsqrt(variance + self.eps)
        return centred * scale.view(1, -1, 1, 1) + self.bias.view(1, -1, 1, 1)


class SumOverRanks(torch.autograd.Function):
    """Its gradient is the sum of the gradients of all ranks: each of them has used the sum."""

    @staticmethod
    def forward(ctx: Any, statistic: Tensor) -> Tensor:
        return summed(statistic)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return summed(gradients[0])


def summed(part: Tensor) -> Tensor:
    total = part.clone(memory_format=torch.contiguous_format)
    distributed.all_reduce(total)
    return total


def synced(network: nn.Module) -> nn.Module:
    """The same network, parameters and statistics shared, with every BatchNorm2d synced."""
    for module in network.modules():
        if type(module) is nn.BatchNorm2d:
            module.__class__ = SyncedBatchNorm2d
    return network
