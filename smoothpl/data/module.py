"""From images to batches: the LightningDataModule that joins source, fold, steps and views."""

from collections.abc import Callable
from typing import Any

import torch
from lightning import LightningDataModule
from torch import Tensor
from torch.utils.data import DataLoader

from smoothpl.data.batches import RawStep, Slices, Steps
from smoothpl.data.folds import Fold
from smoothpl.data.source import ImageSet, Source
from smoothpl.data.views import Views
from smoothpl.errors import ConfigError


class SemiSupervisedData(LightningDataModule):
    """Labeled images with their labels, and unlabeled images in a weak and a strong view, step by step."""

    def __init__(
        self,
        source: Callable[[], Source],
        split: Callable[[Tensor], Fold],
        steps: Callable[..., Steps],
        views: Views,
        num_classes: int,
        eval_batch_size: int = 500,
        num_workers: int = 0,
    ) -> None:
        super().__init__()
        self.open_source = source
        self.split = split
        self.draw_steps = steps
        self.views = views
        self.num_classes = num_classes
        self.eval_batch_size = eval_batch_size
        self.num_workers = num_workers
        self.source: Source
        self.fold: Fold

    def setup(self, stage: str) -> None:
        if not hasattr(self, "source"):  # called once for fitting and once for testing
            self.source = self.open_source()
            if len(self.source.class_names) != self.num_classes:
                raise ConfigError(
                    f"data.num_classes={self.num_classes}, but the data have {len(self.source.class_names)} classes."
                )
            self.fold = self.split(self.source.train.labels)

    def train_dataloader(self) -> DataLoader[RawStep]:
        steps = self.draw_steps(
            self.source.train,
            self.fold,
            num_weak_draws=self.views.weak.num_draws,
            num_strong_draws=self.views.strong.num_draws,
        )
        return DataLoader(steps, batch_size=None, num_workers=self.num_workers, pin_memory=torch.cuda.is_available())

    def val_dataloader(self) -> DataLoader[ImageSet]:
        return DataLoader(Slices(self.source.test, self.eval_batch_size), batch_size=None)

    def test_dataloader(self) -> DataLoader[ImageSet]:
        return self.val_dataloader()

    def on_after_batch_transfer(self, batch: Any, dataloader_idx: int) -> Any:
        """Views are made here, on the device, a whole batch at a time."""
        if isinstance(batch, RawStep):
            return self.views.of_step(batch)
        return self.views.of_test(batch.images), batch.labels
