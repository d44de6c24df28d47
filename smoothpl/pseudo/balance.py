"""Balance: rare classes weigh more, by how often they are labeled and how often they are predicted (SAW)."""

from typing import final

import torch
from torch import Tensor, nn

from smoothpl.errors import ConfigError
from smoothpl.pseudo.labels import PseudoLabels
from smoothpl.pseudo.last_seen import PARTS, in_whole_numbers, last_times
from smoothpl.pseudo.obstacles import Obstacle

LARGEST_LEDGER = 2**30
"""Bytes of probabilities of all images, for soft counts."""
COUNTS_JUMP = Obstacle(
    "balance.counts=hard counts the labels of images", "balance.counts=soft", ("balance.counts=soft",)
)


def by_effective_number(count: Tensor, images_per_class: float | None = None) -> Tensor:
    """count (C,) -> weight (C,), on average 1: of n images 1 / (1 - beta^n), beta = (N - 1) / N.

    N is how many images a class would have if all had the same, or a number. A class of which there is none weighs as
    one of which there is a single image.
    """
    count = count.float().clamp(min=1)
    number = count.mean() if images_per_class is None else torch.full_like(count, images_per_class)
    # 1 - beta^n in other words: as it stands, little would be left of it in single precision.
    weight = -1 / torch.expm1(count * torch.log1p(-1 / number))
    return weight / weight.mean()


@final
class Balance(nn.Module):
    """A weight for every class: labels by how many labels it has, pseudo-labels by how many images it is believed of.

    Every image counts as it was believed when it was last seen, by its label (`counts="hard"`) or by its probabilities
    (`"soft"`), which do not jump. The weights of pseudo-labels begin alike and are found anew every `refresh_every`
    steps.
    """

    def __init__(
        self, num_classes: int, refresh_every: int, counts: str = "hard", images_per_class: float | None = None
    ) -> None:
        super().__init__()
        if counts not in ("hard", "soft"):
            raise ConfigError(f"balance.counts={counts} must be hard (SAW) or soft (continuous).")
        if type(refresh_every) is not int or refresh_every < 1:
            raise ConfigError(f"balance.refresh_every={refresh_every} must be a whole number of steps, at least 1.")
        if images_per_class is not None and not images_per_class > 1:
            raise ConfigError(
                f"balance.images_per_class={images_per_class} must be above 1; null takes how many there are."
            )
        self.num_classes, self.refresh_every = num_classes, refresh_every
        self.is_soft, self.images_per_class = counts == "soft", images_per_class
        self.of_label: Tensor
        self.of_pseudo_label: Tensor
        self.steps: Tensor
        self.seen: Tensor  # (N,) the last label of every image, C before the first; or (N, C) its last probabilities
        self.count: Tensor
        self.register_buffer("of_label", torch.ones(num_classes))
        self.register_buffer("of_pseudo_label", torch.ones(num_classes))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.register_buffer("count", torch.zeros(num_classes, dtype=torch.long))  # in units of an image
        self.unit = PARTS if self.is_soft else 1
        self.register_load_state_dict_pre_hook(in_whole_numbers)  # type: ignore[no-untyped-call]

    def prepare(self, num_unlabeled: int, labeled_per_class: Tensor | None) -> None:
        """Called again for as many images it keeps its memory; for another number of them it begins anew."""
        if labeled_per_class is not None:
            self.of_label.copy_(by_effective_number(labeled_per_class, self.images_per_class))
        if len(getattr(self, "seen", ())) == num_unlabeled:
            return
        for each in (self.steps, self.count):
            each.zero_()
        self.of_pseudo_label.fill_(1)
        self.register_buffer("seen", self.nothing_seen(num_unlabeled).to(self.steps.device))

    def nothing_seen(self, num_unlabeled: int) -> Tensor:
        if not self.is_soft:
            return torch.full((num_unlabeled,), self.num_classes)
        size = 2 * num_unlabeled * self.num_classes
        if size > LARGEST_LEDGER:
            raise ConfigError(
                f"balance.counts=soft remembers {self.num_classes} probabilities of each of {num_unlabeled:,} images, "
                f"{size / 2**30:.1f} GB; use balance.counts=hard."
            )
        return torch.zeros(num_unlabeled, self.num_classes, dtype=torch.float16)

    def observe(self, pseudo: PseudoLabels) -> None:
        """Takes note of a step of all ranks."""
        assert pseudo.image is not None, "Balance must know which image is which: pseudo_labels(logits, image)"
        image, last = pseudo.image, last_times(pseudo.image)
        if self.is_soft:
            before, now = self.seen[image], pseudo.probabilities[last].to(self.seen.dtype)
            once = last == torch.arange(len(last), device=last.device)
            # Numbers of half precision are whole ones in this unit, so that the count never drifts.
            self.count.add_(((now.float() - before.float()) * once.unsqueeze(1) * PARTS).long().sum(dim=0))
            self.seen[image] = now
        else:
            self.seen[image] = pseudo.label[last]
            found = torch.zeros(self.num_classes + 1, dtype=torch.long, device=image.device)
            self.count.copy_(found.index_add_(0, self.seen, torch.ones_like(self.seen))[:-1])
        self.steps += 1
        # Every time, though rarely due: whoever asks whether it is due waits for the device.
        fresh = by_effective_number(self.count / self.unit, self.images_per_class)
        is_due = self.steps % self.refresh_every == 0
        self.of_pseudo_label.copy_(torch.where(is_due, fresh, self.of_pseudo_label))

    def obstacles(self) -> list[Obstacle]:
        """Those of its memory: where weights by class jump, thresholds by class do."""
        return [] if self.is_soft else [COUNTS_JUMP]
