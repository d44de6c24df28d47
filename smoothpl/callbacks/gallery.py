"""Pictures of a run: the confusion matrix, and pseudo-labels with their views."""

from pathlib import Path
from typing import Any

from lightning import Callback, LightningModule, Trainer
from matplotlib import rc_context
from matplotlib.figure import Figure
from torch import Tensor

from smoothpl.data import Batch, SemiSupervisedData
from smoothpl.layout import PSEUDO_LABELS_PICTURE
from smoothpl.loggers import external_loggers
from smoothpl.module import SemiSupervisedModule
from smoothpl.plots.confusion import confusion_figure
from smoothpl.plots.pseudo_labels import Example, pseudo_label_figure
from smoothpl.plots.style import PLAIN, attempt


class Gallery(Callback):
    """Sends to external loggers the confusion matrix of every evaluation, and the most and the least confident
    pseudo-labels of the step before it. Those of the last step are also saved in the run's directory.

    Without an external logger only the last step costs anything.
    """

    def __init__(self, every: int, keep: bool = True, number: int = 8) -> None:
        if number < 1:
            raise ValueError(f"callbacks.gallery.number={number} must be a positive number of images.")
        self.every = every
        self.keep = keep
        self.number = number

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Batch, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, SemiSupervisedModule)
        is_last = trainer.is_last_batch and self.keep
        is_due = pl_module.ends_step(batch_idx) and trainer.global_step % self.every == 0
        is_shown = is_due and bool(external_loggers(trainer))
        if pl_module.taught is None or not trainer.is_global_zero or not (is_last or is_shown):
            return
        attempt(lambda: self.draw_pseudo_labels(trainer, pl_module, batch, is_last))

    def draw_pseudo_labels(self, trainer: Trainer, module: SemiSupervisedModule, batch: Batch, is_last: bool) -> None:
        assert module.taught is not None
        order = module.taught.confidence.argsort(descending=True)
        number = min(self.number, max(1, len(order) // 2))
        data = trainer.datamodule  # type: ignore[attr-defined]
        figure = pseudo_label_figure(
            {
                "most confident": examples(order[:number], module, batch, data),
                "least confident": examples(order[len(order) - number :], module, batch, data),
            },
            f"pseudo-labels of step {trainer.global_step}: label, confidence, weight",
        )
        send(trainer, "pseudo_labels", figure)
        if is_last:
            with rc_context(PLAIN):
                figure.savefig(Path(trainer.default_root_dir) / PSEUDO_LABELS_PICTURE, dpi=100)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.sanity_checking or not external_loggers(trainer):
            return
        assert isinstance(pl_module, SemiSupervisedModule)
        names = list(trainer.datamodule.source.class_names)  # type: ignore[attr-defined]
        attempt(lambda: send(trainer, "confusion", confusion_figure(pl_module.last_confusion.tolist(), names)))


def send(trainer: Trainer, name: str, figure: Figure) -> None:
    if trainer.is_global_zero:
        for logger in external_loggers(trainer):
            logger.log_picture(name, figure, trainer.global_step)


def examples(which: Tensor, module: SemiSupervisedModule, batch: Batch, data: SemiSupervisedData) -> list[Example]:
    """Reads hidden labels, after the step, for a picture and nothing else."""
    assert module.taught is not None
    names = data.source.class_names
    truth = data.source.train.labels[data.fold.unlabeled][batch.image[which].cpu()]
    pixels = data.pixels_of(batch, which)
    label, weight, confidence, _ = (each[which].tolist() for each in module.taught)
    return [
        Example(pixels[i], names[label[i]], confidence[i], weight[i], names[true] if true >= 0 else None)
        for i, true in enumerate(truth.tolist())
    ]
