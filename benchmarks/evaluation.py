"""python -m benchmarks.evaluation: an evaluation on the test images of CIFAR-10, against forward alone.

On the clock, all cores; WideResNet-28-2 on all 10,000 images, views, confusion and reliability included. Needs
SMOOTHPL_DATA.
"""

import time
from collections.abc import Iterator
from typing import Any

import torch
from lightning import Callback, LightningModule, Trainer

from benchmarks.line import Line, show
from benchmarks.setting import data_folder
from smoothpl.config.compose import compose_checked
from smoothpl.module import SemiSupervisedModule
from smoothpl.run.build import build_data, build_module
from smoothpl.run.quiet import quiet_libraries

KNOBS = ("benchmark=cifar10_40",)


class ForwardAlone(Callback):
    """Repeats the forward of every batch, and takes the time: both meet the same machine."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def on_validation_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, *_: Any
    ) -> None:
        assert isinstance(pl_module, SemiSupervisedModule)
        start = time.perf_counter()
        with torch.no_grad():
            pl_module.average(batch[0])
        self.seconds += time.perf_counter() - start


def lines() -> Iterator[Line]:
    data_folder()
    quiet_libraries()
    config = compose_checked(KNOBS)
    module, data, alone = build_module(config), build_data(config), ForwardAlone()
    data.setup("fit")
    quiet: dict[str, Any] = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = Trainer(accelerator="cpu", callbacks=[alone], enable_checkpointing=False, **quiet)
    start = time.perf_counter()
    trainer.validate(module, datamodule=data, verbose=False)
    whole = time.perf_counter() - start - alone.seconds
    what = f"evaluation of {len(data.source.test):,} images, WideResNet-28-2"
    yield Line(what, whole, alone.seconds, "s", "forward alone", at_most=1.05)


if __name__ == "__main__":
    show(lines())
