"""From images to batches: the LightningDataModule that joins source, fold, steps and views."""

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from lightning import LightningDataModule
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from smoothpl.data.batch import Batch, RawStep
from smoothpl.data.batches import FromStep, Slices, Steps
from smoothpl.data.choosing import Choosing
from smoothpl.data.features.source import Features
from smoothpl.data.features.vectors import Vectors
from smoothpl.data.folds import Fold, count_classes
from smoothpl.data.open_set import OpenSet
from smoothpl.data.parts import Part
from smoothpl.data.picked import Picked
from smoothpl.data.source import HELD_OUT, STRANGER, ImageSet, Source
from smoothpl.data.views import Views
from smoothpl.errors import ConfigError

Item = TypeVar("Item")
AT_A_TIME = 1024


class Loader(DataLoader[Item]):
    """Tells Lightning that it can be resumed: the step reached is all its state, and the sampler asks for that."""

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        pass


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
        features: Features | None = None,
        part: Part | None = None,
        choosing: Choosing | None = None,
        open_set: OpenSet | None = None,
        picked: Callable[[], Picked] | None = None,
    ) -> None:
        super().__init__()
        self.open_source = source
        self.split = split
        self.draw_steps = steps
        self.features = features
        self.picture_views = views
        self.views = views if features is None else features.of_step
        self.num_classes = num_classes
        self.eval_batch_size = eval_batch_size
        self.num_workers = num_workers
        self.part = part  # of the labeled images, if it tests instead of the test images
        self.choosing = choosing
        self.open_set = open_set
        self.open_picked = picked
        self.picked: Picked | None = None  # images that are learned with the labels of a generation before
        self.pictures: Source  # as they were opened
        self.source: Source  # what batches are made of: pictures, or their features
        self.fold: Fold

    def setup(self, stage: str) -> None:
        if not hasattr(self, "source"):  # called once for fitting and once for testing
            self.pictures = self.open_source()
            if self.choosing is not None:
                self.pictures = self.choosing.of(self.pictures)
            if self.open_set is not None:
                self.pictures = self.open_set.of(self.pictures)
            self.check_source(self.pictures)
            self.fold = self.split(self.pictures.train.labels)
            if self.open_set is not None:
                self.fold = self.open_set.join(self.fold, self.pictures.train.labels)
            if self.part is not None:
                self.fold, self.pictures = self.part.hold_out(self.fold, self.pictures)
            if not len(self.fold.unlabeled):
                raise ConfigError(
                    "no unlabeled image is left: all are labeled; use fewer num_labels, or "
                    "split.unlabeled_includes_labeled=true."
                )
            if self.open_picked is not None:
                self.picked = self.open_picked()
                self.picked.check(len(self.pictures.train), self.num_classes)
            self.source = self.pictures if self.features is None else self.features.of(self.pictures)

    @property
    def ranks(self) -> dict[str, int]:
        trainer = self.trainer
        return {"rank": trainer.global_rank, "num_ranks": trainer.world_size} if trainer else {}

    @property
    def labeled_per_class(self) -> Tensor:
        return count_classes(self.source.train.labels[self.fold.labeled], self.num_classes)

    @property
    def num_labeled(self) -> int:
        """Images that are learned with a label, picked ones among them."""
        return len(self.fold.labeled) + (0 if self.picked is None else len(self.picked.image))

    @property
    def image_size(self) -> tuple[int, int]:
        """Height and width of the images that views are made of."""
        images = self.tested(torch.zeros(1, dtype=torch.long))
        return images.shape[-2], images.shape[-1]

    def tested(self, index: Tensor) -> Tensor:
        """index (B,) -> the pixels of test images, as they are evaluated."""
        (images,) = self.pictures.test.read(index, self.picture_views.test_frame, [torch.empty(len(index), 0)])
        return images

    def pixels_of(self, batch: Batch, which: Tensor) -> Tensor:
        """(n, views, channels, height, width) in [0, 1]: unlabeled images of a batch, for people."""
        if self.features is None:
            views = [batch.weak] if batch.strong is None else [batch.weak, batch.strong]
            return torch.stack([self.views.as_pixels(view[which].float()).cpu() for view in views], dim=1)
        index = self.fold.unlabeled[batch.image[which].cpu()]
        (images,) = self.pictures.train.read(index, self.picture_views.test_frame, [torch.empty(len(index), 0)])
        return images.unsqueeze(1) / 255

    def labeled_vectors(self) -> Tensor:
        """(L, V, D): all weak looks at the labeled images."""
        return torch.stack(list(self.vectors.weak_looks(self.fold.labeled)), dim=1).float()

    def unlabeled_vectors(self) -> Iterator[Tensor]:
        """The first weak look at every unlabeled image, some at a time."""
        for some in torch.split(self.fold.unlabeled, AT_A_TIME):
            yield next(self.vectors.weak_looks(some))

    def as_tested(self, index: Tensor) -> Iterator[Tensor]:
        """Training images (n,), some at a time, as the network sees test images."""
        for some in torch.split(index, AT_A_TIME):
            if self.features is not None:
                images = next(self.vectors.weak_looks(some))
            else:
                no_draws = torch.empty(len(some), 0)
                (images,) = self.pictures.train.read(some, self.picture_views.test_frame, [no_draws])
            yield self.views.of_test(images)

    @property
    def vectors(self) -> Vectors:
        assert isinstance(self.source.train, Vectors)
        return self.source.train

    def check_source(self, source: Source) -> None:
        """Checks the data against what the configuration says about them."""
        if len(source.class_names) != self.num_classes:
            raise ConfigError(
                f"data.num_classes={self.num_classes}, but the data have {len(source.class_names)} classes."
            )
        of_training = HELD_OUT if self.open_set is None else STRANGER
        for name, images in (("training", source.train), ("test", source.test)):
            lowest = of_training if name == "training" else 0
            outside = images.labels[(images.labels < lowest) | (images.labels >= self.num_classes)]
            if len(outside):
                raise ConfigError(
                    f"{len(outside)} {name} images have labels outside 0 to {self.num_classes - 1}, "
                    f"the first one {int(outside[0])}; these data are damaged, or data.num_classes is wrong."
                )
            if images.same_size == (self.picture_views.frame is not None):
                is_not, other, way_out = ("are not", "one size", "imagenet")
                if images.same_size:
                    is_not, other, way_out = ("are", "many sizes", "torchssl")
                raise ConfigError(
                    f"the {name} images {is_not} all of one size, but these views are for images of {other}; use "
                    f"views={way_out}."
                )

    def train_dataloader(self) -> DataLoader[RawStep]:
        trainer = self.trainer
        num_parts = trainer.accumulate_grad_batches if trainer else 1
        train, fold, more = self.source.train, self.fold, {}
        if self.picked is not None:
            fold, more["lessons"] = self.picked.beside(fold, train.labels)
        steps = self.draw_steps(train, fold, self.views, num_parts=num_parts, **more, **self.ranks)
        shares = num_parts * self.ranks.get("num_ranks", 1)
        if steps.num_labeled % shares:
            raise ConfigError(
                f"batch_size={steps.num_labeled} does not divide into {shares} equal shares, one for every device and "
                "part of a step; use another batch_size, trainer.devices or accumulate."
            )
        sampler = FromStep(len(steps), lambda: trainer.global_step * num_parts if trainer else 0)
        return self.loader(steps, self.num_workers, sampler)

    def val_dataloader(self) -> DataLoader[ImageSet]:
        # Images in memory are handed over as they are; only decoding is work for others.
        workers = 0 if self.source.test.same_size else self.num_workers
        # No more than its share, so that every rank has something to do.
        size = min(self.eval_batch_size, math.ceil(len(self.source.test) / self.ranks.get("num_ranks", 1)))
        return self.loader(Slices(self.source.test, self.views.test_frame, size, **self.ranks), workers)

    def loader(self, items: Dataset[Item], num_workers: int, sampler: FromStep | None = None) -> DataLoader[Item]:
        return Loader(
            items, batch_size=None, sampler=sampler, num_workers=num_workers, pin_memory=torch.cuda.is_available()
        )

    def test_dataloader(self) -> DataLoader[ImageSet]:
        return self.val_dataloader()

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """What is there already is not looked through, tensor by tensor: a tenth of a step on features."""
        return batch if device.type == "cpu" else super().transfer_batch_to_device(batch, device, dataloader_idx)

    def on_after_batch_transfer(self, batch: Any, dataloader_idx: int) -> Any:
        """Views are made here, on the device, a whole batch at a time."""
        if isinstance(batch, RawStep):
            return self.views.of_step(batch)
        return self.views.of_test(batch.images), batch.labels
