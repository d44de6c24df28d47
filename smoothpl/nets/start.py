"""How a head begins: its scale by the unlabeled images, its weights and its temperature by the labeled ones."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from smoothpl.errors import ConfigError, require
from smoothpl.nets.heads import Head
from smoothpl.nets.probe import fit_probe

OF_LABELS = "labels"
STARTS = ("fresh", "probe")
USUAL_IMAGES = 10
"""Images that every feature is taken to have varied in as usual; among thousands they do not count."""


class HeadStart(NamedTuple):
    """init: fresh or probe; temperature: labels, or a number."""

    init: str
    temperature: float | str
    loss_temperature: float = 1.0

    def check(self) -> None:
        require(self.init in STARTS, f"head.init={self.init} must be {' or '.join(STARTS)}.")
        require(
            self.temperature == OF_LABELS or is_positive(self.temperature),
            f"head.temperature={self.temperature} must be a positive number, or {OF_LABELS} to fit it on the labeled "
            "images.",
        )
        require(
            is_positive(self.loss_temperature),
            f"head.loss_temperature={self.loss_temperature} must be a positive number; 1 leaves logits as they are.",
        )

    @torch.no_grad()
    def begin(self, head: Head, unlabeled: Iterable[Tensor], labeled: Tensor, labels: Tensor) -> None:
        """unlabeled: vectors (B, D), part after part; labeled (L, V, D): views of the labeled images; labels (L,)."""
        mean, deviation, number = statistics(unlabeled)
        head.standardise_by(mean, steadied(deviation, number))
        features = head.standardised(labeled)
        head.start_fresh(features, labels)
        if self.init == "probe" or self.temperature == OF_LABELS:
            probe = fit_probe(features, labels, head.num_classes)
            if self.init == "probe":
                head.start_at(probe.weight, probe.bias)
        head.loss_temperature.fill_(self.loss_temperature)
        head.temperature.fill_(probe.temperature if self.temperature == OF_LABELS else float(self.temperature))


def is_positive(number: object) -> bool:
    return isinstance(number, int | float) and 0 < number < math.inf


def statistics(parts: Iterable[Tensor]) -> tuple[Tensor, Tensor, int]:
    """The mean and the deviation of each feature, and of how many images, in one pass (Chan's way of joining parts)."""
    number, mean, squares = 0, torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for part in parts:
        rows = part.double()
        difference = rows.mean(dim=0) - mean
        total = number + len(rows)
        squares = squares + rows.var(dim=0, correction=0) * len(rows) + difference**2 * number * len(rows) / total
        mean = mean + difference * len(rows) / total
        number = total
    if not mean.isfinite().all():
        raise ConfigError("some features are not numbers (NaN); remove them, or make the features again.")
    return mean.float(), (squares / number).sqrt().float(), number


def steadied(deviation: Tensor, number: int) -> Tensor:
    """Deviations as if a few more images had been seen, that vary as usual. One that never varied stays 0.

    A feature that is nearly always silent hardly varies over a few images; standardised by that alone, the first image
    in which it speaks would drown all other features.
    """
    usual = deviation.median()
    steady = ((number * deviation**2 + USUAL_IMAGES * usual**2) / (number + USUAL_IMAGES)).sqrt()
    return torch.where(deviation > 0, steady, 0)
