"""A callback that kills its own process with SIGKILL, at a moment that no test could hit from outside."""

import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

from lightning import Callback, LightningModule, Trainer

from smoothpl.record import checkpoints


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Killer(Callback):
    def __init__(self, moment: str, step: int) -> None:
        self.moment = moment
        self.step = step

    def on_train_batch_start(self, trainer: Trainer, *_: Any) -> None:
        if trainer.global_step == self.step - 1:  # the step that begins
            if self.moment == "step":
                die()
            if self.moment == "sleep":
                (Path.cwd() / "asleep").touch()
                while True:
                    time.sleep(0.01)
            if self.moment == "draft is half written":
                trainer.save_checkpoint = write_half  # type: ignore[assignment, method-assign]
            if self.moment == "draft is written":
                checkpoints.put = die  # type: ignore[attr-defined]
            if self.moment == "older ones are removed":
                checkpoints.found = die  # type: ignore[assignment]

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if self.moment == "all is done" and trainer.global_step == self.step:
            shutil.rmtree = die  # type: ignore[assignment]

    def on_validation_batch_start(self, trainer: Trainer, *_: Any) -> None:
        if self.moment == "validation" and trainer.global_step == self.step:
            die()

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
        if self.moment == "after optimiser" and trainer.global_step == self.step:
            die()


def write_half(path: Path, *_: Any) -> None:
    Path(path).write_bytes(b"PK" * 1000)
    die()
