"""The record of a run, written at every evaluation, so that a run that is killed has one too."""

from math import isfinite
from pathlib import Path
from time import monotonic
from typing import Any

import torch
from lightning import Callback, LightningModule, Trainer
from torch import Tensor

from smoothpl.callbacks.coverage import CoverageWatch
from smoothpl.callbacks.photographs import is_last_evaluation
from smoothpl.data import SemiSupervisedData
from smoothpl.data.folds import count_classes
from smoothpl.data.source import STRANGER
from smoothpl.metrics.collapse import Turn, turns_of
from smoothpl.metrics.confusion import class_accuracy, collapsed_classes, error_rate, predicted_share
from smoothpl.metrics.reliability import calibration_error
from smoothpl.metrics.surprise import TEMPERATURES, surprises
from smoothpl.module import SemiSupervisedModule
from smoothpl.ranks import num_ranks, share_mean
from smoothpl.record.record import Evaluation, Record, write


class Recorder(Callback):
    """Fills in the record of a run: its data at the start, every evaluation, the last training metrics."""

    def __init__(self, record: Record, run_dir: Path) -> None:
        self.record = record
        self.run_dir = run_dir
        self.started = monotonic()
        self.answers: Tensor | None = None  # of every test image, at the last evaluation: is it wrong, and -log p

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        data = trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(data, SemiSupervisedData)
        labels, num_classes = data.source.train.labels, len(data.source.class_names)
        self.record.class_names = list(data.source.class_names)
        self.record.labeled = data.fold.labeled.tolist()
        self.record.labeled_as = labels[data.fold.labeled].tolist()
        self.record.labeled_per_class = data.labeled_per_class.tolist()
        self.record.unlabeled_per_class = count_classes(labels[data.fold.unlabeled], num_classes).tolist()
        self.record.num_unlabeled = len(data.fold.unlabeled)
        self.record.num_strangers = int((labels[data.fold.unlabeled] == STRANGER).sum())
        self.record.image_size = list(data.image_size)
        self.record.num_test = len(data.source.test)
        self.record.tested_on = data.source.tested_on
        self.record.num_left_out = data.source.num_left_out

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.take_metrics(trainer)

    def take_metrics(self, trainer: Trainer) -> None:
        watches = [each for each in trainer.callbacks if isinstance(each, CoverageWatch)]  # type: ignore[attr-defined]
        self.record.alarms = [alarm for watch in watches for alarm in watch.story.alarms]
        logged = trainer.callback_metrics.items()
        self.record.metrics |= {key: value.item() for key, value in logged if key.startswith("train/")}

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        number = len(trainer.datamodule.source.test)  # type: ignore[attr-defined]
        rows = 1 + len(TEMPERATURES)
        self.answers = torch.zeros(rows, number, device=pl_module.device) if is_last_evaluation(trainer) else None

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: tuple[Tensor, Tensor],
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        if self.answers is not None:
            start = trainer.val_dataloaders.dataset.starts[batch_idx]  # type: ignore[union-attr]
            logits, labels = outputs.float(), batch[1]
            is_wrong = (logits.argmax(dim=1) != labels).float().unsqueeze(0)
            self.answers[:, start : start + len(labels)] = torch.cat([is_wrong, surprises(logits, labels)])

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.sanity_checking:  # an untrained network is no result
            return
        assert isinstance(pl_module, SemiSupervisedModule)
        confusion = pl_module.last_confusion.cpu()
        evaluation = Evaluation(
            trainer.global_step,
            error_rate(confusion),
            collapsed_classes(confusion),
            [round(share, 4) for share in predicted_share(confusion).tolist()],
        )
        seen = [earlier for earlier in self.record.history if earlier.step != evaluation.step]
        self.record.take_history([*seen, evaluation])
        shares = [(each.step, each.shares) for each in self.record.history]
        self.record.turns = turns_of(shares, int(trainer.max_steps))
        self.record.confusion = confusion.tolist()
        self.record.wrong, self.record.surprise = ([], []) if self.answers is None else told(self.answers)
        self.record.class_accuracy = class_accuracy(confusion).tolist()
        self.record.reliability = [(each.number, each.confidence, each.accuracy) for each in pl_module.last_bins]
        self.record.calibration_error = calibration_error(pl_module.last_bins)
        self.take_metrics(trainer)
        if trainer.is_global_zero:
            write(self.run_dir, self.record)

    def state_dict(self) -> dict[str, Any]:
        record = self.record
        return {
            "history": [list(evaluation) for evaluation in record.history],
            "turns": [list(turn) for turn in record.turns],
            "metrics": record.metrics,
            "confusion": record.confusion,
            "wrong": record.wrong,
            "surprise": record.surprise,
            "class_accuracy": record.class_accuracy,
            "calibration_error": record.calibration_error,
            "reliability": [list(each) for each in record.reliability],
            "time": record.time_before + monotonic() - self.started,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.record.take_history([Evaluation(*evaluation) for evaluation in state["history"]])
        self.record.turns = [Turn(*turn) for turn in state["turns"]]
        self.record.metrics = state["metrics"]
        self.record.confusion = state["confusion"]
        self.record.wrong, self.record.surprise = state.get("wrong", []), state.get("surprise", [])
        self.record.class_accuracy = state["class_accuracy"]
        self.record.calibration_error = state["calibration_error"]
        self.record.reliability = [tuple(each) for each in state["reliability"]]
        self.record.time_before = state["time"]


def told(answers: Tensor) -> tuple[list[int], list[float]]:
    """The numbers of the images that are wrong, and the mean of -log p of the true class at each temperature; none
    where logits are not finite. Each rank has looked at its own images."""
    share_mean(answers)
    is_wrong, *surprise = answers.cpu().double() * num_ranks()
    means = [each.mean().item() for each in surprise]
    return is_wrong.nonzero().squeeze(1).tolist(), means if all(map(isfinite, means)) else []
