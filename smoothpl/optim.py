"""SGD: the optimiser and the schedule that the field shares."""

import math

from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import LambdaLR


def sgd(network: nn.Module, learning_rate: float, momentum: float, nesterov: bool, weight_decay: float) -> SGD:
    """Weight decay on weights only: biases and BatchNorm, which have one dimension, are left alone.

    By dimension, not by name: TorchSSL looks for `bn` in the name and so decays four BatchNorms of a ResNet-50.
    """
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    groups = [
        {"params": [parameter for parameter in trained if parameter.ndim > 1], "weight_decay": weight_decay},
        {"params": [parameter for parameter in trained if parameter.ndim <= 1], "weight_decay": 0.0},
    ]
    return SGD(groups, lr=learning_rate, momentum=momentum, nesterov=nesterov, foreach=True)


def cosine(optimizer: SGD, max_steps: int) -> LambdaLR:
    """FixMatch's schedule: lr cos(7 pi t / 16 T), which ends at a fifth of the start and not at zero."""
    # math, not numpy: a NumPy float in the scheduler's state cannot be loaded back with weights_only.
    return LambdaLR(optimizer, lambda step: math.cos(7 * math.pi / 16 * min(step / max_steps, 1)))
