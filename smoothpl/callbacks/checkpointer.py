"""Checkpoints during a run, and one more when it is asked to stop."""

import signal
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

from lightning import Callback, LightningModule, Trainer

from smoothpl.callbacks.collapse import CollapseWatch
from smoothpl.callbacks.coverage import CoverageWatch
from smoothpl.errors import Interruption
from smoothpl.io.atomic import put
from smoothpl.loggers.curves import Curves
from smoothpl.module import SemiSupervisedModule
from smoothpl.record.checkpoints import commit

ASKING_TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)  # Ctrl-C, a scheduler, SLURM before it preempts


class Checkpointer(Callback):
    """Saves between two steps only, when nothing is half done: a signal waits for that, a second Ctrl-C does not.

    Must be the last of all callbacks. `max_time` is in seconds since this process started: Lightning's Timer also
    counts the time before a resume, so that a run which it has stopped can never continue.
    """

    def __init__(self, folder: Path, every: int, eval_every: int, max_time: float | None = None, keep: int = 2) -> None:
        self.folder = folder
        self.every = every
        self.eval_every = eval_every
        self.keep = keep
        self.deadline = None if max_time is None else monotonic() + max_time
        self.asked_by: signal.Signals | None = None
        self.earlier_handlers: dict[signal.Signals, Any] = {}

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        for which in ASKING_TO_STOP:
            self.earlier_handlers[which] = signal.signal(which, self.ask)

    def ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked_by is not None and number == signal.SIGINT:  # schedulers repeat their signals; people mean it
            raise KeyboardInterrupt
        self.asked_by = signal.Signals(number)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, SemiSupervisedModule)
        # Lightning does not make up for an evaluation that was due when it saved: such a step is saved after it.
        if pl_module.ends_step(batch_idx) and trainer.global_step % self.eval_every:
            self.between_steps(trainer, pl_module)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.state.fn == "fit" and not trainer.sanity_checking:
            self.between_steps(trainer, pl_module)

    def between_steps(self, trainer: Trainer, pl_module: LightningModule) -> None:
        stops = self.is_asked(trainer) or (trainer.should_stop and trainer.global_step < trainer.max_steps)
        if stops or trainer.global_step % self.every == 0:
            assert isinstance(pl_module, SemiSupervisedModule)
            pl_module.check_health(trainer.global_step)  # a ruined network is not worth keeping
            self.save(trainer)
        if stops:
            raise KeyboardInterrupt

    @property
    def is_late(self) -> bool:
        return self.deadline is not None and monotonic() > self.deadline

    def is_asked(self, trainer: Trainer) -> bool:
        asked = self.asked_by is not None or self.is_late
        if trainer.world_size == 1:
            return asked
        # All ranks must stop after the same step. They agree where they exchange values anyway, not in every step.
        is_agreed = trainer.global_step % trainer.log_every_n_steps == 0  # type: ignore[attr-defined]
        return is_agreed and not trainer.strategy.reduce_boolean_decision(not asked, all=True)

    def interruption(self, trainer: Trainer) -> Interruption:
        """Why the run ends before its last step."""
        for callback in trainer.callbacks:  # type: ignore[attr-defined]
            if isinstance(callback, CollapseWatch | CoverageWatch) and callback.interruption is not None:
                return callback.interruption
        by = self.asked_by or signal.SIGINT  # which Lightning answers before the first step
        return Interruption("max_time" if self.asked_by is None and self.is_late else by.name)

    def save(self, trainer: Trainer) -> None:
        self.write(trainer, self.folder / ".draft", lambda draft: commit(draft, trainer.global_step, self.keep))

    def save_last(self, trainer: Trainer, path: Path) -> None:
        self.write(trainer, path.with_name(f".{path.name}.draft"), lambda draft: put(draft, path))

    def write(self, trainer: Trainer, draft: Path, finish: Callable[[Path], None]) -> None:
        """Called by all ranks; the first one writes."""
        try:
            if trainer.is_global_zero:
                draft.parent.mkdir(parents=True, exist_ok=True)
                draft.unlink(missing_ok=True)  # a link would be written through
            trainer.save_checkpoint(draft)
            if trainer.is_global_zero:
                finish(draft)
        finally:
            if trainer.is_global_zero:
                draft.unlink(missing_ok=True)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.restore_handlers()

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        self.restore_handlers()

    def restore_handlers(self) -> None:
        while self.earlier_handlers:
            signal.signal(*self.earlier_handlers.popitem())

    def on_save_checkpoint(self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]) -> None:
        checkpoint["rows_of_curves"] = [curves.num_rows for curves in curves_of(trainer)]

    def on_load_checkpoint(self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]) -> None:
        for curves, num_rows in zip(curves_of(trainer), checkpoint["rows_of_curves"], strict=False):
            curves.rewind(num_rows)


def curves_of(trainer: Trainer) -> list[Curves]:
    return [logger for logger in trainer.loggers if isinstance(logger, Curves)]
