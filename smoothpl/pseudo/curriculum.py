"""Threshold: FlexMatch's curriculum, where classes that the network is slow to learn get a lower one."""

from collections.abc import Callable
from math import log
from typing import final

import torch
from torch import Tensor

from smoothpl.pseudo.labels import PseudoLabels
from smoothpl.pseudo.last_seen import PARTS, in_whole_numbers
from smoothpl.pseudo.policies import ThresholdPolicy

MAPS: dict[str, Callable[[Tensor], Tensor]] = {
    "convex": lambda progress: progress / (2 - progress),
    "linear": lambda progress: (progress + 1) / 2,
    "low_limit": lambda progress: 1 / (2 - progress),
    "concave": lambda progress: (torch.log(progress + 1) + 0.5) / (log(2) + 0.5),
}
"""From a class's progress in [0, 1] to a share of the ceiling; convex is what was published."""


@final
class Curriculum(ThresholdPolicy):
    """Remembers of every image the last label it was given with confidence, and counts them by class.

    A class's progress is its count over the largest one. With `warm_up`, images never labeled with confidence are
    counted too: early on they are the most, and keep all thresholds low. With `counts="soft"` an image counts by how
    far it was above the ceiling when last seen, so that the memory does not jump when an image crosses it.

    The counts are updated, not counted again: a step costs O(batch), however many images there are.
    """

    by_class = True

    def __init__(
        self, threshold: float, num_classes: int, map: str = "convex", warm_up: bool = True, counts: str = "hard"
    ) -> None:
        super().__init__()
        if map not in MAPS:
            raise ValueError(f"policy.map={map} must be one of {', '.join(MAPS)}.")
        if counts not in ("hard", "soft"):
            raise ValueError(f"policy.counts={counts} must be hard (FlexMatch) or soft (continuous).")
        self.ceiling = threshold
        self.share = MAPS[map]
        self.warm_up = warm_up
        self.soft = counts == "soft"
        self.lowest = threshold * float(self.share(torch.zeros(())))
        self.ledger: Tensor  # (N,) the last label of every image
        self.ledger_weight: Tensor  # (N,) and how much it counts, 0 for images not yet labeled with confidence
        self.count: Tensor
        # In whole images, or in parts of one: exact either way.
        self.register_buffer("count", torch.zeros(num_classes, dtype=torch.long))
        self.unit = PARTS if self.soft else 1
        self.register_load_state_dict_pre_hook(in_whole_numbers)  # type: ignore[no-untyped-call]
        if not self.soft:
            self.jumps = "policy.counts=hard counts images above a threshold: use policy.counts=soft"

    def prepare(self, num_unlabeled: int) -> None:
        """Called again for as many images it keeps its memory; for another number of them it begins anew."""
        ledger = getattr(self, "ledger", None)
        if ledger is not None and len(ledger) == num_unlabeled:
            return
        device = self.count.device
        self.register_buffer("ledger", torch.zeros(num_unlabeled, dtype=torch.long, device=device))
        self.register_buffer("ledger_weight", torch.zeros(num_unlabeled, device=device))
        self.count.zero_()

    def forward(self, pseudo: PseudoLabels) -> Tensor:
        largest = self.count.max()
        if self.warm_up:
            largest = torch.maximum(largest, len(self.ledger) * self.unit - self.count.sum())
        progress = (self.count / largest.clamp(min=1)).clamp(0, 1)
        return (self.ceiling * self.share(progress))[pseudo.label]

    def observe(self, pseudo: PseudoLabels, weight: Tensor) -> None:
        assert pseudo.image is not None, "Curriculum must know which image is which: pseudo_labels(logits, image)"
        image = pseudo.image
        above = (pseudo.confidence - self.ceiling) / (1 - self.ceiling)
        counts = (above.clamp(0, 1) * PARTS).round() / PARTS if self.soft else torch.ones_like(above)
        writes = torch.ones_like(above, dtype=torch.bool) if self.soft else above > 0

        # Sorted by image, writers after others, in the order of the batch: of the occurrences of an image, the last one
        # here is the last one that writes, if any does.
        order = (image * 2 + writes).argsort(stable=True)
        image, label, counts, writes = image[order], pseudo.label[order], counts[order], writes[order]
        last = torch.searchsorted(image, image, right=True) - 1
        is_last = last == torch.arange(len(image), device=image.device)

        old, old_weight = self.ledger[image], self.ledger_weight[image]
        # All occurrences of an image write the same, in whatever order, and are counted once.
        new = torch.where(writes[last], label[last], old)
        new_weight = torch.where(writes[last], counts[last], old_weight)
        self.count.index_add_(0, old, -(is_last * old_weight * self.unit).round().long())
        self.count.index_add_(0, new, (is_last * new_weight * self.unit).round().long())
        self.ledger[image] = new
        self.ledger_weight[image] = new_weight
