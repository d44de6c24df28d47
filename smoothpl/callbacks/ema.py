"""EMA: the averaged network follows the live one."""

from typing import Any

import torch
from lightning import Callback, LightningModule, Trainer
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn

from smoothpl.module import SemiSupervisedModule


class EMA(Callback):
    """Averages the network's parameters after every step, from the first one on, as FixMatch does.

    Lightning's own callback averages the whole module, policy memory included, copies at its first update instead of
    averaging, and evaluates by swapping weights. Here the averaged network is a part of the module; BatchNorm
    statistics are not averaged but copied from the live network whenever the average is evaluated or saved.
    """

    def __init__(self, decay: float) -> None:
        self.decay = decay
        self.update = get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
        self.averaged: list[Tensor] = []
        self.live: list[Tensor] = []
        self.step = 0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        average, network = networks_of(pl_module)
        self.averaged = list(average.parameters())
        self.live = list(network.parameters())
        self.step = trainer.global_step

    @torch.no_grad()
    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
        if trainer.global_step > self.step:  # not between two halves of an accumulated gradient
            self.step = trainer.global_step
            self.update(self.averaged, self.live, 0)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        copy_statistics(*networks_of(pl_module))

    def on_save_checkpoint(self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]) -> None:
        copy_statistics(*networks_of(pl_module))  # the state dict in the checkpoint shares storage with the module


@torch.no_grad()
def copy_statistics(average: nn.Module, network: nn.Module) -> None:
    for averaged, live in zip(average.buffers(), network.buffers(), strict=True):
        averaged.copy_(live)


def networks_of(module: LightningModule) -> tuple[nn.Module, nn.Module]:
    assert isinstance(module, SemiSupervisedModule)
    return module.average, module.network
