"""Threshold: one by class, which keeps of each class as large a share as a fixed one keeps of the largest (Adsh)."""

from typing import final

import torch
from torch import Tensor

from smoothpl.errors import ConfigError
from smoothpl.pseudo.labels import PseudoLabels, one_hot
from smoothpl.pseudo.last_seen import last_times
from smoothpl.pseudo.policies import ThresholdPolicy
from smoothpl.pseudo.similarity import similarity
from smoothpl.pseudo.weighting import margin

BINS = 200
"""Of soft quantiles: as many steps of confidence are remembered, and what lies between them is interpolated."""
SMALL = 1e-6


@final
class EqualShares(ThresholdPolicy):
    """The first class is the one with the most labels; what of it is at `threshold` or above is the share of all.

    `quantiles="hard"` remembers label and confidence of every image as they were last seen, and sorts them anew every
    `refresh_every` steps. Of n images of a class it keeps the first n * share, rounded down; a class of which it keeps
    none has at least `threshold`, and one that is never predicted the threshold that it had.

    `quantiles="soft"` remembers running means: how an image counts for its class vanishes where two classes tie, and
    no confidence is on one side of a border. So the memory does not jump when an image does.
    """

    by_class = True

    def __init__(
        self,
        threshold: float,
        num_classes: int,
        refresh_every: int,
        quantiles: str = "hard",
        momentum: float = 0.999,
    ) -> None:
        super().__init__()
        if quantiles not in ("hard", "soft"):
            raise ConfigError(f"policy.quantiles={quantiles} must be hard (Adsh) or soft (continuous).")
        if type(refresh_every) is not int or refresh_every < 1:
            raise ConfigError(f"policy.refresh_every={refresh_every} must be a whole number of steps, at least 1.")
        if not 0 <= momentum < 1:
            raise ConfigError(f"policy.momentum={momentum} must lie in [0, 1); 0.999 averages over 1,000 steps.")
        self.threshold, self.num_classes = threshold, num_classes
        self.refresh_every, self.momentum = refresh_every, momentum
        self.soft = quantiles == "soft"
        if not self.soft:
            self.jumps = "policy.quantiles=hard counts and sorts labels: use policy.quantiles=soft"
        self.first = 0
        self.thresholds: Tensor
        self.steps: Tensor
        self.label: Tensor  # (N,) the last label of every image, C before the first
        self.confidence: Tensor  # (N,)
        self.mass: Tensor  # (BINS + 1, C) how much of a class has which confidence
        self.register_buffer("thresholds", torch.full((num_classes,), threshold))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        if self.soft:
            # As if all confidences were alike frequent, so that all classes begin with the threshold of the first.
            self.register_buffer("mass", torch.full((BINS + 1, num_classes), 1 / (BINS + 1) / num_classes))

    def prepare(self, num_unlabeled: int) -> None:
        """Called again for as many images it keeps its memory; for another number of them it begins anew."""
        if self.soft or len(getattr(self, "label", ())) == num_unlabeled:
            return
        device = self.steps.device
        unseen = torch.full((num_unlabeled,), self.num_classes, device=device)
        self.register_buffer("label", unseen)
        self.register_buffer("confidence", torch.zeros(num_unlabeled, device=device))
        self.thresholds.fill_(self.threshold)
        self.steps.zero_()

    def prepare_labels(self, labeled_per_class: Tensor) -> None:
        self.first = labeled_per_class.tolist().index(int(labeled_per_class.max()))

    def forward(self, pseudo: PseudoLabels) -> Tensor:
        return self.thresholds[pseudo.label]

    def observe(self, pseudo: PseudoLabels, weight: Tensor) -> None:
        if self.soft:
            self.thresholds.copy_(self.soft_quantiles(pseudo))
            return
        assert pseudo.image is not None, "EqualShares must know which image is which: pseudo_labels(logits, image)"
        last = last_times(pseudo.image)
        self.label[pseudo.image] = pseudo.label[last]
        self.confidence[pseudo.image] = pseudo.confidence[last]
        self.steps += 1
        is_due = self.steps % self.refresh_every == 0
        # Every time, though rarely due: whoever asks whether it is due waits for the device.
        self.thresholds.copy_(torch.where(is_due, self.quantiles(), self.thresholds))

    def quantiles(self) -> Tensor:
        """-> threshold (C,)."""
        order = self.confidence.argsort(descending=True, stable=True)
        order = order[self.label[order].argsort(stable=True)]  # by class, the surest first; at last those not seen
        count = torch.zeros(self.num_classes + 1, dtype=torch.long, device=order.device)
        count = count.index_add_(0, self.label, torch.ones_like(self.label))[:-1]
        start = count.cumsum(dim=0) - count
        sure = ((self.label == self.first) & (self.confidence >= self.threshold)).sum()
        of_first = count[self.first]
        kept = count * sure // of_first.clamp(min=1)
        place = (start + kept - 1).clamp(min=0)
        # The weight starts to grow above a threshold, and the last one that is kept counts.
        surest_kept = torch.nextafter(self.confidence[order][place], self.confidence.new_zeros(()))
        surest = self.confidence[order][start.clamp(max=len(order) - 1)].clamp(min=self.threshold)
        below_one = torch.nextafter(surest.new_ones(()), surest.new_zeros(()))
        found = torch.where(kept > 0, surest_kept, surest).minimum(below_one)
        found = torch.where((count > 0) & (of_first > 0), found, self.thresholds)
        is_first = torch.arange(self.num_classes, device=found.device) == self.first
        return torch.where(is_first, self.threshold, found)

    def soft_quantiles(self, pseudo: PseudoLabels) -> Tensor:
        """-> threshold (C,), where as much of every class is above as of the first one."""
        counts = one_hot(pseudo.label, self.num_classes) * margin(pseudo.probabilities).unsqueeze(1)
        bins = torch.arange(BINS + 1, device=counts.device)
        near = (1 - (BINS * pseudo.confidence.unsqueeze(1) - bins).abs()).clamp(min=0)
        self.mass.lerp_(similarity(near.T, counts.T) / len(counts), 1 - self.momentum)
        mass = self.mass / self.mass.sum(dim=0)
        mass = (mass + SMALL) / (mass + SMALL).sum(dim=0)  # where there is none, quantiles would jump
        above = 1 - mass.cumsum(dim=0) + mass / 2  # (BINS + 1, C) the share of each class above each confidence
        place = BINS * self.threshold
        before = min(int(place), BINS - 1)
        share = torch.lerp(above[before, self.first], above[before + 1, self.first], place - before)
        after = (above > share).sum(dim=0, keepdim=True).clamp(1, BINS)
        high, low = above.gather(0, after - 1), above.gather(0, after)
        way = ((high - share) / (high - low)).clamp(0, 1)
        return ((after - 1 + way) / BINS).squeeze(0).clamp(max=1 - 1 / BINS)
