"""A module that learns nothing and writes down the batches it sees; run as a command, on two ranks.

python -m tests.support.listener FOLDER NUM_RANKS knob=value ...
"""

import sys
from pathlib import Path

import torch
from lightning import LightningModule, Trainer
from torch import Tensor
from torch.optim import SGD, Optimizer

from smoothpl.data import Batch
from smoothpl.run.build import build_data
from smoothpl.run.quiet import quiet_libraries
from tests.support.composing import composed


class Listener(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.seen: dict[int, Batch] = {}

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        self.seen[self.global_step] = batch
        return 0 * self.weight

    def validation_step(self, batch: object, batch_idx: int) -> None:
        """Never called; without it Lightning complains."""

    def configure_optimizers(self) -> Optimizer:
        return SGD(self.parameters(), lr=0.1)


def trainer(max_steps: int, **settings: object) -> Trainer:
    quiet_libraries()
    quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
    options = {"accelerator": "cpu", "devices": 1, "use_distributed_sampler": False, "limit_val_batches": 0}
    return Trainer(max_steps=max_steps, max_epochs=-1, **quiet | options | settings)  # type: ignore[arg-type]


def main(folder: str, num_ranks: str, *overrides: str) -> None:
    config = composed(*overrides)
    listener = Listener()
    ranks = {"devices": int(num_ranks), "strategy": "ddp" if num_ranks != "1" else "auto"}
    trainer(config.max_steps, **ranks).fit(listener, datamodule=build_data(config))
    torch.save(
        {step: tuple(batch) for step, batch in listener.seen.items()}, Path(folder) / f"{listener.global_rank}.pt"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
