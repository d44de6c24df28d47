"""Alignment by a queue: how often classes were predicted in the last steps, each of them counted alike."""

from typing import final

import torch
from torch import Tensor

from smoothpl.pseudo.alignment import SMALL, Alignment
from smoothpl.pseudo.labels import Beliefs


@final
class QueueAlignment(Alignment):
    """Divides by the mean of the last `batches` steps, multiplies by how often a class should be predicted.

    `towards`: all alike (`"uniform"`, CoMatch), or as often as among the labels (`"labels"`, ReMixMatch), whose
    frequencies may be raised to a `power` below 1, which makes them more alike (CReST+). The queue may start
    `"empty"`, and a step is in it when it is corrected (CoMatch); or full of `"uniform"` steps, and a step is in it
    when it is over (google/remixmatch).
    """

    def __init__(
        self,
        num_classes: int,
        batches: int,
        towards: str = "uniform",
        starts: str = "empty",
        teaches: bool = True,
        power: float = 1.0,
    ) -> None:
        super().__init__()
        if towards not in ("labels", "uniform"):
            raise ValueError(f"align.towards={towards} must be labels or uniform.")
        if starts not in ("empty", "uniform"):
            raise ValueError(f"align.starts={starts} must be empty or uniform.")
        if batches < 1:
            raise ValueError(f"align.batches={batches} must be positive; 32 is CoMatch's, 128 ReMixMatch's.")
        if not 0 <= power <= 1:
            raise ValueError(f"align.power={power} must lie in [0, 1]: 1 is as the labels, 0 all alike.")
        if power < 1 and towards != "labels":
            raise ValueError(f"align.power={power} has no effect with align.towards={towards}; use towards=labels.")
        self.power = power
        self.teaches = teaches
        self.follows_labels = towards == "labels"
        self.starts_empty = starts == "empty"
        self.queue: Tensor  # (batches, C)
        self.predicted: Tensor  # (C,) their mean
        self.wanted: Tensor  # (C,)
        self.place: Tensor  # of the next step
        self.filled: Tensor
        self.register_buffer("queue", torch.full((batches, num_classes), 1 / num_classes))
        self.register_buffer("predicted", torch.full((num_classes,), 1 / num_classes))
        self.register_buffer("wanted", torch.full((num_classes,), 1 / num_classes))
        self.register_buffer("place", torch.zeros((), dtype=torch.long))
        self.register_buffer("filled", torch.tensor(0 if self.starts_empty else batches))

    def prepare(self, labeled_per_class: Tensor) -> None:
        if self.follows_labels:
            wanted = labeled_per_class / labeled_per_class.sum()
            self.wanted.copy_(wanted if self.power == 1 else wanted**self.power / (wanted**self.power).sum())

    def see(self, beliefs: Beliefs) -> None:
        mean = beliefs.unlabeled.probabilities.mean(dim=0)
        if self.starts_empty:
            self.take(mean)
        known = (self.rows < self.filled).unsqueeze(1)
        self.predicted.copy_((self.queue * known).sum(dim=0) / self.filled)
        if not self.starts_empty:
            self.take(mean)

    @property
    def rows(self) -> Tensor:
        return torch.arange(len(self.queue), device=self.queue.device)

    def take(self, mean: Tensor) -> None:
        """mean (C,) of a step, in place of the oldest."""
        self.queue.copy_(torch.where((self.rows == self.place).unsqueeze(1), mean, self.queue))
        self.place.copy_((self.place + 1) % len(self.queue))
        self.filled.copy_((self.filled + 1).clamp(max=len(self.queue)))

    def forward(self, probabilities: Tensor) -> Tensor:
        aligned = probabilities * (self.wanted + SMALL) / (self.predicted + SMALL)
        return aligned / aligned.sum(dim=1, keepdim=True)
