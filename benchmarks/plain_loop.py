"""The reference: FixMatch as one would write it, and as the usual codebases do.

Pillow views in the workers of a loader, image by image; a list of all indices of a run; an eager network in the usual
layout; numbers for the log asked for in every step; the average updated parameter by parameter.

Our own text, so that it runs on today's torch and on CPUs; what it costs was compared with a published loop, that of
kekmodel/FixMatch-pytorch, made to run on a CPU (docs/performance.md, "The usual loop is a real one").
"""

import random
import time
from copy import deepcopy
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn
from torch.optim import SGD
from torch.utils.data import DataLoader, Dataset

from benchmarks import pillow_views
from benchmarks.setting import data_folder
from smoothpl.data import cifar10
from smoothpl.nets import WideResNet
from smoothpl.optim import cosine

NUM_IMAGES = 50_000
STEPS = 1000
"""Steps whose indices are listed beforehand."""
WORKERS = 4
"""Processes that make views, of each of the two loaders: the default of kekmodel/FixMatch-pytorch."""
RESTING = 1.0
"""Seconds, in which the workers make eight batches of 28 pairs with ease."""


class Labeled(Dataset[tuple[Tensor, Any]]):
    def __init__(self, pictures: list[Image.Image], labels: list[int]) -> None:
        self.pictures = pictures
        self.labels = labels

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, number: int) -> tuple[Tensor, Any]:
        return pillow_views.weak(self.pictures[number], [random.random() for _ in range(3)]), self.labels[number]


class Unlabeled(Labeled):
    def __getitem__(self, number: int) -> tuple[Tensor, Tensor]:
        picture = self.pictures[number]
        weak = pillow_views.weak(picture, [random.random() for _ in range(3)])
        return weak, pillow_views.strong(picture, [random.random() for _ in range(12)])


class PlainLoop:
    """40 labels, all other CIFAR-10 images without; a step is a call."""

    def __init__(self, batch_size: int, unlabeled_ratio: int = 7, num_workers: int = WORKERS) -> None:
        train = cifar10(data_folder()).train
        pictures = [Image.fromarray(image.permute(1, 2, 0).numpy()) for image in train.images[:NUM_IMAGES]]  # type: ignore[attr-defined]
        labels = train.labels.tolist()
        self.labeled = self.loader(Labeled(pictures[:40], labels[:40]), batch_size, num_workers)
        self.unlabeled = self.loader(Unlabeled(pictures, labels), batch_size * unlabeled_ratio, num_workers)
        self.network = WideResNet(10, channels=3, depth=28, width=2, variant="torchssl", norm_momentum=0.001)
        self.average = deepcopy(self.network)
        self.optimizer = SGD(self.network.parameters(), lr=0.03, momentum=0.9, nesterov=True, weight_decay=5e-4)
        self.schedule = cosine(self.optimizer, STEPS)
        self.log: list[tuple[float, ...]] = []
        self.num_waiting = 2 * num_workers  # batches that a loader has ready
        self.begin()

    @staticmethod
    def loader(images: Labeled, batch_size: int, num_workers: int) -> "DataLoader[tuple[Tensor, Tensor]]":
        indices = torch.randint(len(images), (STEPS * batch_size,)).tolist()
        return DataLoader(images, batch_size, sampler=indices, num_workers=num_workers, drop_last=True)

    def begin(self) -> None:
        """Restarts the workers."""
        self.batches = zip(self.labeled, self.unlabeled, strict=False)

    def use_up(self) -> None:
        """Makes the steps whose views the workers have prepared while something else was measured."""
        for _ in range(self.num_waiting):
            self.step()

    def rest(self) -> None:
        """Waits until the workers have filled their queues: they would slow down what is measured next."""
        time.sleep(RESTING)

    def step(self) -> None:
        (labeled, label), (weak, strong) = next(self.batches)
        logits = self.network(torch.cat([labeled, weak, strong]))
        logits_labeled, logits_weak, logits_strong = logits.split([len(labeled), len(weak), len(strong)])
        supervised = nn.functional.cross_entropy(logits_labeled, label)
        confidence, pseudo = torch.softmax(logits_weak.detach(), dim=-1).max(dim=-1)
        mask = confidence.ge(0.95).float()
        unsupervised = (nn.functional.cross_entropy(logits_strong, pseudo, reduction="none") * mask).mean()
        loss = supervised + unsupervised
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.schedule.step()
        with torch.no_grad():
            for averaged, live in zip(self.average.parameters(), self.network.parameters(), strict=True):
                averaged.copy_(averaged * 0.999 + live * 0.001)
            for kept, current in zip(self.average.buffers(), self.network.buffers(), strict=True):
                kept.copy_(current)
        self.log.append((loss.item(), supervised.item(), unsupervised.item(), mask.mean().item()))
