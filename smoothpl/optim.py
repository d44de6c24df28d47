"""SGD: the optimiser and the schedule that the field shares."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import LambdaLR

from smoothpl.errors import require
from smoothpl.nets.finetuning.whole import WholeNetwork

ANGLES: dict[str | None, float] = {None: 7 * math.pi / 16, "to_zero": math.pi / 2, "constant": 0.0}
"""How far along a cosine the learning rate goes: FixMatch's way, down to nothing, and nowhere."""


@dataclass(frozen=True)
class WeightDecaySGD:
    """SGD with weight decay on weights only: biases and BatchNorm, which have one dimension, are left alone.

    By dimension, not by name: TorchSSL looks for `bn` in the name and so decays four BatchNorms of a ResNet-50.
    """

    learning_rate: float
    momentum: float
    nesterov: bool
    weight_decay: float
    schedule: str | None = None

    def __post_init__(self) -> None:
        for name in ("learning_rate", "weight_decay"):
            if not is_number(getattr(self, name)) or not getattr(self, name) >= 0:
                raise ValueError(f"optim.{name}={getattr(self, name)} must be a number from 0 up.")
        if not is_number(self.momentum) or not 0 <= self.momentum < 1:
            raise ValueError(f"optim.momentum={self.momentum} must lie in [0, 1).")
        if self.nesterov and self.momentum == 0:
            raise ValueError("optim.momentum=0 does not go with Nesterov's momentum; add optim.nesterov=false.")
        if self.schedule not in ANGLES:
            known = ", ".join("null" if each is None else each for each in ANGLES)
            raise ValueError(f"optim.schedule={self.schedule} must be one of {known}.")

    def __call__(self, network: nn.Module) -> SGD:
        return self.of([(self.learning_rate, network.parameters())])

    def of(self, parts: Iterable[tuple[float, Iterable[nn.Parameter]]]) -> SGD:
        """Parts of a network, each with its learning rate."""
        groups: list[dict[str, Any]] = []
        for rate, parameters in parts:
            trained = [parameter for parameter in parameters if parameter.requires_grad]
            weights, others = ([each for each in trained if (each.ndim > 1) == wanted] for wanted in (True, False))
            groups.append({"params": weights, "weight_decay": self.weight_decay, "lr": rate})
            groups.append({"params": others, "weight_decay": 0.0, "lr": rate})
        return SGD(groups, lr=self.learning_rate, momentum=self.momentum, nesterov=self.nesterov, foreach=True)


@dataclass(frozen=True)
class SGDByDepth:
    """For a trained network that learns on: slower towards its input, whose features are the most general ones.

    The last block has the learning rate itself, every block before it `decay` times that of the next; the head, which
    is new, its own. All else is as in `sgd`.
    """

    sgd: WeightDecaySGD
    learning_rate: float
    decay: float
    head_learning_rate: float

    def __post_init__(self) -> None:
        for name in ("learning_rate", "head_learning_rate"):
            rate = getattr(self, name)
            require(is_number(rate) and rate >= 0, f"finetune.{name}={rate} must be a number from 0 up.")
        require(
            is_number(self.decay) and 0 < self.decay <= 1,
            f"finetune.decay={self.decay} must lie in (0, 1]; 1 lets every block learn alike.",
        )

    @property
    def schedule(self) -> str | None:
        return self.sgd.schedule

    def __call__(self, network: nn.Module) -> SGD:
        assert isinstance(network, WholeNetwork)
        parts: list[tuple[float, Iterable[nn.Parameter]]] = [
            (self.learning_rate * self.decay ** (network.num_blocks - depth), parameters)
            for depth, parameters in network.by_depth().items()
        ]
        return self.sgd.of([*parts, (self.head_learning_rate, network.head.parameters())])


def is_number(value: Any) -> bool:
    """YAML and the command line know no types."""
    return isinstance(value, int | float)


def cosine(optimizer: SGD, max_steps: int, schedule: str | None = None) -> LambdaLR:
    """FixMatch's schedule: lr cos(7 pi t / 16 T), which ends at a fifth of the start and not at zero; or another."""
    angle = ANGLES[schedule]
    # math, not numpy: a NumPy float in the scheduler's state cannot be loaded back with weights_only.
    return LambdaLR(optimizer, lambda step: math.cos(angle * min(step / max_steps, 1)))
