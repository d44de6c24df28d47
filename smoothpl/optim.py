"""SGD: the optimiser and the schedule that the field shares."""

import math
from dataclasses import dataclass
from typing import Any

from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import LambdaLR


@dataclass(frozen=True)
class WeightDecaySGD:
    """SGD with weight decay on weights only: biases and BatchNorm, which have one dimension, are left alone.

    By dimension, not by name: TorchSSL looks for `bn` in the name and so decays four BatchNorms of a ResNet-50.
    """

    learning_rate: float
    momentum: float
    nesterov: bool
    weight_decay: float

    def __post_init__(self) -> None:
        for name in ("learning_rate", "weight_decay"):
            if not is_number(getattr(self, name)) or not getattr(self, name) >= 0:
                raise ValueError(f"optim.{name}={getattr(self, name)} must be a number from 0 up.")
        if not is_number(self.momentum) or not 0 <= self.momentum < 1:
            raise ValueError(f"optim.momentum={self.momentum} must lie in [0, 1).")
        if self.nesterov and self.momentum == 0:
            raise ValueError("optim.momentum=0 does not go with Nesterov's momentum; add optim.nesterov=false.")

    def __call__(self, network: nn.Module) -> SGD:
        trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        groups = [
            {"params": [parameter for parameter in trained if parameter.ndim > 1], "weight_decay": self.weight_decay},
            {"params": [parameter for parameter in trained if parameter.ndim <= 1], "weight_decay": 0.0},
        ]
        return SGD(groups, lr=self.learning_rate, momentum=self.momentum, nesterov=self.nesterov, foreach=True)


def is_number(value: Any) -> bool:
    """YAML and the command line know no types."""
    return isinstance(value, int | float)


def cosine(optimizer: SGD, max_steps: int) -> LambdaLR:
    """FixMatch's schedule: lr cos(7 pi t / 16 T), which ends at a fifth of the start and not at zero."""
    # math, not numpy: a NumPy float in the scheduler's state cannot be loaded back with weights_only.
    return LambdaLR(optimizer, lambda step: math.cos(7 * math.pi / 16 * min(step / max_steps, 1)))
