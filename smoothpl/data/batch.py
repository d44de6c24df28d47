"""Batch: what the network learns from in one step, before and after its views are made."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from torch import Tensor

NOTHING: Mapping[str, Any] = MappingProxyType({})


class RawView(NamedTuple):
    """A view that is still to be made."""

    images: Tensor  # uint8
    plan: Any


class RawStep(NamedTuple):
    """The images of a step as they were read, and what chance has decided about their views."""

    labeled: Tensor  # (B, channels, height, width) uint8
    label: Tensor  # (B,)
    labeled_plan: Any
    unlabeled: Tensor  # (U, channels, height, width) uint8
    unlabeled_strong: Tensor | None  # other parts of the same pictures, where a frame cuts them out
    image: Tensor  # (U,) which of the N unlabeled images
    weak_plan: Any
    strong_plan: Any  # None where no strong view is learned
    labeled_image: Tensor | None = None  # (B,) which of the labeled images
    views: Mapping[str, RawView] = NOTHING  # those that a method wants besides, by name
    chance: Mapping[str, Tensor] = NOTHING  # and what else it wants chance to decide
    turned: Tensor | None = None  # (U, ...) the strong views, turned, where they were read and are not made
    label_weight: Tensor | None = None  # (B,) where labels do not all count alike (smoothpl/data/picked.py)

    @property
    def of_strong(self) -> Tensor:
        """The images that the strong view is made of."""
        return self.unlabeled if self.unlabeled_strong is None else self.unlabeled_strong


class Batch(NamedTuple):
    """What the network learns from in one step. Without a strong view it learns from the weak one (Pseudo-Labeling)."""

    labeled: Tensor  # (B, channels, height, width)
    label: Tensor  # (B,)
    weak: Tensor  # (U, channels, height, width)
    strong: Tensor | None
    image: Tensor  # (U,)
    labeled_image: Tensor | None = None  # (B,)
    views: Mapping[str, Tensor] = NOTHING  # others, by name: smoothpl/data/wanted.py
    chance: Mapping[str, Tensor] = NOTHING
    label_weight: Tensor | None = None  # (B,)

    @property
    def all_views(self) -> dict[str, Tensor]:
        """By name, the labeled images first."""
        strong = {} if self.strong is None else {"strong": self.strong}
        return {"labeled": self.labeled, "weak": self.weak} | strong | dict(self.views)
