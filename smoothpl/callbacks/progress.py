"""Progress of a run: a bar in a terminal, plain lines elsewhere."""

from time import monotonic
from typing import Any

from lightning import Callback, LightningModule, Trainer
from lightning.pytorch.trainer.states import TrainerFn
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from smoothpl.cli.messages import Terminal

FIRST_LINE, NEXT_LINES = 15, 300
"""Seconds until there is a line without a terminal, and between two later ones where evaluations are rare."""
METRICS = {
    "train/loss": ("loss", "{:.3f}"),
    "train/coverage": ("coverage", "{:.0%}"),
    "val/error": ("error", "{:.2f} %"),
}


class ProgressReport(Callback):
    """Step, loss, coverage, test error so far and time left.

    Lightning's bars count epochs, of which there is one here, and read metrics off the device at every refresh.
    """

    def __init__(self, every: int = 10, console: Console | None = None) -> None:
        self.every = every  # steps between two readings of the metrics
        self.console = console or Terminal(soft_wrap=True)
        self.bar: Progress | None = None
        self.task = TaskID(0)
        self.first_step = 0
        self.started = 0.0
        self.next_line = 0.0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.started, self.first_step = monotonic(), trainer.global_step
        self.next_line = self.started + FIRST_LINE
        if self.console.is_terminal and trainer.is_global_zero:
            self.bar = Progress(
                TextColumn("step"),
                MofNCompleteColumn(),
                BarColumn(bar_width=None),
                TextColumn("{task.fields[metrics]}"),
                TimeRemainingColumn(),
                TextColumn("left"),
                console=self.console,
                refresh_per_second=4,
                expand=True,
            )
            self.task = self.bar.add_task("", total=trainer.max_steps, completed=trainer.global_step, metrics="")
            self.bar.start()

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
        if self.bar is not None:
            self.bar.update(self.task, completed=trainer.global_step)
            if trainer.global_step % self.every == 0:
                self.bar.update(self.task, metrics=describe(trainer))
        elif monotonic() > self.next_line and trainer.global_step > self.first_step:
            self.print_line(trainer)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.sanity_checking:
            return
        if self.bar is not None:
            self.bar.update(self.task, metrics=describe(trainer))
        elif trainer.state.fn == TrainerFn.FITTING:
            self.print_line(trainer)

    def print_line(self, trainer: Trainer) -> None:
        self.next_line = monotonic() + NEXT_LINES
        if trainer.is_global_zero:
            step = trainer.global_step
            left = (monotonic() - self.started) / (step - self.first_step) * (trainer.max_steps - step)
            self.console.print(
                f"step {step}/{trainer.max_steps}  {describe(trainer)}  {int(left) // 60}:{int(left) % 60:02} left"
            )

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.close(trainer)

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        self.close(trainer)

    def close(self, trainer: Trainer) -> None:
        if self.bar is not None:
            self.bar.update(self.task, metrics=describe(trainer))
            self.bar.stop()  # also after an exception: it shows the cursor again
            self.bar = None


def describe(trainer: Trainer) -> str:
    """The newest values of METRICS, as far as they are logged."""
    known = trainer.callback_metrics
    shown = [(name, form, known[key]) for key, (name, form) in METRICS.items() if key in known]
    return "  ".join(f"{name} {form.format(value.item())}" for name, form, value in shown)
