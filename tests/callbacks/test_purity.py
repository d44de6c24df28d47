from pathlib import Path
from typing import Any

import pytest
import torch
from lightning import Callback, LightningModule, Trainer
from torch import Tensor

from smoothpl.callbacks import PurityWatch
from smoothpl.data.source import STRANGER, UNKNOWN
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries
from tests.support.composing import TINY, composed

KNOBS = (*TINY, "logger=none", "threshold=0.13", "log_every=2", "max_steps=4")


class Scramble(Callback):
    """Gives every unlabeled image another label, after the fold was drawn and before anybody looks."""

    def __init__(self, to: int | None) -> None:
        self.to = to

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        data = trainer.datamodule  # type: ignore[attr-defined]
        labels, fold = data.source.train.labels, data.fold
        unlabeled = fold.unlabeled[~torch.isin(fold.unlabeled, fold.labeled)]
        labels[unlabeled] = (labels[unlabeled] + 1) % 10 if self.to is None else self.to


class BruteForce(Callback):
    """Counts image by image."""

    def __init__(self) -> None:
        self.found: list[list[float]] = []
        self.right, self.classes = 0, [0] * 10

    def on_train_batch_end(self, trainer: Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        data = trainer.datamodule  # type: ignore[attr-defined]
        for image, label, weight in zip(batch.image.tolist(), *map(Tensor.tolist, pl_module.taught[:2]), strict=True):
            if weight > 0:
                self.classes[label] += 1
                self.right += int(data.source.train.labels[data.fold.unlabeled[image]]) == label
        if batch_idx % 2 == 1:
            counted = sum(self.classes)
            shares = [count / counted for count in self.classes]
            drift = sum(abs(share - 0.1) for share in shares) / 2
            self.found.append([self.right / counted, drift, *shares])
            self.right, self.classes = 0, [0] * 10


class Heard(Callback):
    def __init__(self) -> None:
        self.found: list[list[float]] = []

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
        if trainer.global_step % 2 == 0:
            names = ["purity", "class_drift", *(f"share_of_class_{c}" for c in range(10))]
            self.found.append([trainer.callback_metrics[f"train/{name}"].item() for name in names])


def fitted(tmp_path: Path, *callbacks: Callback, first: tuple[Callback, ...] = ()) -> dict[str, Tensor]:
    quiet_libraries()
    config = composed(*KNOBS)
    torch.manual_seed(0)
    module = build_module(config)
    build_trainer(config, tmp_path, first, callbacks).fit(module, datamodule=build_data(config))
    return module.state_dict()


def test_purity_and_drift_are_what_counting_by_hand_gives(tmp_path: Path) -> None:
    by_hand, heard = BruteForce(), Heard()
    fitted(tmp_path, by_hand, heard)
    assert len(by_hand.found) == 2
    for expected, found in zip(by_hand.found, heard.found, strict=True):
        assert found == pytest.approx(expected, abs=1e-6)


def test_hidden_labels_never_reach_training(tmp_path: Path) -> None:
    """All of them wrong: other purities, the same network to the bit."""
    as_they_are, scrambled = Heard(), Heard()
    weights = fitted(tmp_path, as_they_are)
    same_weights = fitted(tmp_path, scrambled, first=(Scramble(None),))
    assert scrambled.found != as_they_are.found
    assert all(torch.equal(value, same_weights[name]) for name, value in weights.items())


def test_of_images_whose_class_nobody_knows_there_is_no_purity(tmp_path: Path) -> None:
    class Nothing(Callback):
        def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
            assert "train/purity" not in trainer.callback_metrics or trainer.callback_metrics["train/purity"] == 1
            assert "train/class_drift" in trainer.callback_metrics

    fitted(tmp_path, Nothing(), first=(Scramble(UNKNOWN),))


class ByHand(Callback):
    """Counts strangers image by image, and hears what is logged."""

    def __init__(self) -> None:
        self.counts, self.expected, self.found = [0] * 4, [], []  # type: ignore[var-annotated]

    def on_train_batch_end(self, trainer: Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        data = trainer.datamodule  # type: ignore[attr-defined]
        truth = data.source.train.labels[data.fold.unlabeled[batch.image]].tolist()
        for true, weight in zip(truth, pl_module.taught.weight.tolist(), strict=True):
            is_known = true != STRANGER
            self.counts[2 * is_known] += 1
            self.counts[2 * is_known + 1] += (weight > 0) == is_known
        if trainer.global_step % 2 == 0:
            strangers, left_out, known, taught = self.counts
            self.expected.append([left_out / strangers, taught / known])
            names = ("stranger_recall", "known_coverage")
            self.found.append([trainer.callback_metrics[f"train/{name}"].item() for name in names])
            self.counts = [0] * 4


def test_strangers_that_are_not_taught_are_counted(tmp_path: Path) -> None:
    by_hand, right = ByHand(), []

    class Purity(Callback):
        def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
            right.append(trainer.callback_metrics["train/purity"].item())

    config = composed(*KNOBS, "unlabeled=open_set", "unlabeled.strangers=0.9", "num_labels=24", "threshold=0.2")
    quiet_libraries()
    torch.manual_seed(0)
    build_trainer(config, tmp_path, (), (by_hand, Purity())).fit(build_module(config), datamodule=build_data(config))
    assert len(by_hand.found) == 2
    for expected, found in zip(by_hand.expected, by_hand.found, strict=True):
        assert found == pytest.approx(expected, abs=1e-6)
    assert right[0] < 0.4  # nine of ten cannot be right


def test_half_an_interval_is_remembered_with_its_strangers() -> None:
    one, other = PurityWatch(10), PurityWatch(10)
    one.sums, one.told_apart = torch.tensor([1.0, 2.0]), torch.tensor([4.0, 3.0, 2.0, 1.0])
    other.load_state_dict(one.state_dict())
    assert torch.equal(other.told_apart_restored, one.told_apart)  # type: ignore[arg-type]


def test_half_an_interval_is_remembered_in_a_checkpoint() -> None:
    one, other = PurityWatch(10), PurityWatch(10)
    assert one.state_dict() == {}
    one.sums = torch.tensor([1.0, 2.0, 3.0])
    other.load_state_dict(one.state_dict())
    assert torch.equal(other.restored, one.sums)  # type: ignore[arg-type]
