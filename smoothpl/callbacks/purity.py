"""Purity: the share of correct pseudo-labels among those that count, by labels that training never sees."""

from math import isfinite
from typing import Any

import torch
from lightning import Callback, LightningModule, Trainer
from torch import Tensor

from smoothpl.data import SemiSupervisedData
from smoothpl.data.source import STRANGER, UNKNOWN
from smoothpl.module import MOST_CLASSES, SemiSupervisedModule
from smoothpl.pseudo.labels import one_hot
from smoothpl.ranks import share_mean


class PurityWatch(Callback):
    """Compares pseudo-labels with hidden labels after each step, for diagnosis only: the module cannot reach them.

    Logs `train/purity`; the share of every class among the pseudo-labels that count; and `train/class_drift`: how far
    these shares are from those of the labeled images (total variation: 0 is the same, 1 has no class in common). In an
    open set a pseudo-label of a stranger is never right, and there is more to know: `train/stranger_recall`, the share
    of strangers that are not taught (weight 0), and `train/known_coverage`, that of other images that are.
    """

    def __init__(self, every: int) -> None:
        self.every = every
        self.hidden: Tensor
        self.labeled_share: Tensor
        self.sums: Tensor  # right, known, then how many pseudo-labels of every class
        self.restored: Tensor | None = None
        self.told_apart: Tensor | None = None  # in an open set: strangers, those not taught; other images, those taught
        self.told_apart_restored: Tensor | None = None

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        data = trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(data, SemiSupervisedData)
        device = pl_module.device
        labels = data.source.train.labels.clone()
        if (labels == UNKNOWN).any():  # where few are known, nearly all of them are those learned from
            labels[data.fold.labeled] = UNKNOWN
        self.hidden = labels[data.fold.unlabeled].to(device)
        counts = data.labeled_per_class.to(device, torch.float32)
        self.labeled_share = counts / counts.sum()
        self.sums = torch.zeros(2 + len(counts), device=device)
        if self.restored is not None:
            self.sums.copy_(self.restored)
            self.restored = None
        if (self.hidden == STRANGER).any():
            before = self.told_apart_restored
            self.told_apart = torch.zeros(4, device=device) if before is None else before.to(device)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, SemiSupervisedModule)
        if pl_module.taught is None:  # learns from labels alone
            return
        label, weight, *_ = pl_module.taught
        truth, counts = self.hidden[batch.image], weight > 0
        known = counts & (truth != UNKNOWN)
        right = known & (label == truth)
        classes = counts.float() @ one_hot(label, len(self.labeled_share))
        self.sums += torch.cat([torch.stack([right.sum(), known.sum()]).float(), classes])
        if self.told_apart is not None:
            strange = truth == STRANGER
            self.told_apart += torch.stack([strange, strange & ~counts, ~strange, ~strange & counts]).sum(dim=1)
        is_due = pl_module.ends_step(batch_idx) and trainer.global_step % self.every == 0
        if is_due or trainer.is_last_batch:
            means = self.flush() | self.flush_strangers()
            pl_module.report(means, trainer.global_step - 1)  # the step that has just been made

    def flush(self) -> dict[str, float]:
        """The means since the last flush; none while no pseudo-label counts."""
        share_mean(self.sums)
        right, known, *_ = self.sums.tolist()
        shares = self.sums[2:] / self.sums[2:].sum()
        drift = (shares - self.labeled_share).abs().sum().item() / 2
        self.sums.zero_()
        means = {"train/purity": right / known} if known else {}
        if isfinite(drift):
            means["train/class_drift"] = drift
            if len(shares) <= MOST_CLASSES:
                means |= {f"train/share_of_class_{c}": share for c, share in enumerate(shares.tolist())}
        return means

    def flush_strangers(self) -> dict[str, float]:
        """The same of how well strangers are told apart."""
        if self.told_apart is None:
            return {}
        share_mean(self.told_apart)
        strangers, left_out, others, taught = self.told_apart.tolist()
        self.told_apart.zero_()
        means = {"train/stranger_recall": left_out / strangers} if strangers else {}
        return means | ({"train/known_coverage": taught / others} if others else {})

    def state_dict(self) -> dict[str, Any]:
        if not hasattr(self, "sums"):
            return {}
        share_mean(self.sums)
        if self.told_apart is None:
            return {"sums": self.sums.clone()}
        share_mean(self.told_apart)
        return {"sums": self.sums.clone(), "told_apart": self.told_apart.clone()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.restored = state.get("sums")
        self.told_apart_restored = state.get("told_apart")
