"""The last evaluation in photographs: test images of every class, right and wrong ones, for the card of the run."""

from pathlib import Path
from typing import Any

import torch
from lightning import Callback, LightningModule, Trainer
from torch import Tensor

from smoothpl.data import SemiSupervisedData
from smoothpl.metrics.confusion import class_accuracy
from smoothpl.module import SemiSupervisedModule
from smoothpl.plots.style import attempt
from smoothpl.ranks import of_all_ranks
from smoothpl.record.photographs import MOST_CLASSES, MOST_OF_A_KIND, Photograph, as_picture, write_photographs

NONE = -1


class Photographs(Callback):
    """Keeps the most confident right and wrong predictions of every class, at the last evaluation only.

    It listens to the evaluation that is made anyway, and afterwards reads the chosen images once more.
    """

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.answers: list[Tensor] = []

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.answers = []

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: tuple[Tensor, Tensor],
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        if is_last_evaluation(trainer):
            start = trainer.val_dataloaders.dataset.starts[batch_idx]  # type: ignore[union-attr]
            self.answers.append(answers_of(outputs, batch[1], start))

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not is_last_evaluation(trainer):
            return
        assert isinstance(pl_module, SemiSupervisedModule)
        classes = shown_classes(pl_module.last_confusion)
        empty = torch.empty(0, 4, device=pl_module.device)  # a rank may have had nothing to do
        chosen = of_all_ranks(choose(torch.cat([empty, *self.answers]), classes))
        self.answers = []
        if trainer.is_global_zero:
            data = trainer.datamodule  # type: ignore[attr-defined]
            attempt(lambda: write_photographs(self.run_dir, photographs_of(choose(chosen, classes), data)))


def is_last_evaluation(trainer: Trainer) -> bool:
    return not trainer.sanity_checking and trainer.global_step >= trainer.max_steps


def answers_of(logits: Tensor, labels: Tensor, start: int) -> Tensor:
    """logits (B, C), labels (B,) -> (B, 4): number of the image, true class, predicted class, confidence."""
    confidence, predicted = logits.float().softmax(dim=1).max(dim=1)
    image = torch.arange(start, start + len(labels), device=labels.device)
    return torch.stack([image, labels, predicted, confidence], dim=1)


def shown_classes(confusion: Tensor) -> list[int]:
    """All classes; of many, those that are recognised least."""
    accuracy = class_accuracy(confusion).nan_to_num(nan=torch.inf)
    return sorted(accuracy.argsort(stable=True)[:MOST_CLASSES].tolist())


def choose(answers: Tensor, classes: list[int]) -> Tensor:
    """answers (N, 4) -> those to keep, as many rows for any N: unused rows have -1 for their image."""
    chosen = answers.new_full((len(classes), 2, MOST_OF_A_KIND, 4), NONE)
    image, true, predicted, _ = answers.unbind(dim=1)
    for place, number in enumerate(classes):
        for kind, is_right in enumerate((True, False)):
            some = answers[(image != NONE) & (true == number) & ((predicted == true) == is_right)]
            best = some[some[:, 3].argsort(descending=True, stable=True)[:MOST_OF_A_KIND]]
            chosen[place, kind, : len(best)] = best
    return chosen.flatten(0, 2)


def photographs_of(chosen: Tensor, data: SemiSupervisedData) -> list[Photograph]:
    """Reads the images that `choose` has chosen."""
    rows = chosen[chosen[:, 0] != NONE].cpu()
    index = rows[:, 0].long()
    return [
        Photograph(int(true), int(predicted), confidence, as_picture(pixels))
        for (_, true, predicted, confidence), pixels in zip(rows.tolist(), data.tested(index), strict=True)
    ]
