"""Views: RandAugment on a batch, where every image draws operations of its own.

What was drawn is known on the CPU, so images are sorted by operation there, and the device works on one group after the
other without ever being asked what is in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from smoothpl.data.views.affine import AFFINE_OPERATIONS, Numbers, affine_matrix, fixed_point, resample
from smoothpl.data.views.operations import PIXEL_OPERATIONS
from smoothpl.data.views.view import View

# One group for all that are resampled, and one for images that are left alone.
GROUPS = (*PIXEL_OPERATIONS, "affine", "identity")
VALUELESS = ("autocontrast", "equalize", "identity")
LIMITS = {
    **{"posterize": (0, 8), "solarize": (0, 256)},
    **dict.fromkeys(("brightness", "color", "contrast", "sharpness"), (0, np.inf)),
}


def group_of(operation: str) -> int:
    return GROUPS.index("affine" if operation in AFFINE_OPERATIONS else operation)


class Turns(NamedTuple):
    """What happens to a batch, turn by turn: S operations each."""

    orders: Tensor  # (S + 1, B) who comes next, by place in the turn before; the last puts them back
    values: Tensor  # (S, B) how much
    matrices: Tensor  # (S, B, 6)
    counts: list[list[int]]  # S times the size of every group


@dataclass(frozen=True)
class RandAugment(View):
    """`num_operations` of `operations`, each with its own chance and amount.

    `operations` gives the range of an operation's value, or null where it has none. Values are uniform over the range,
    or, with `levels`, one of so many steps from low (not included) to high (step `levels` + 1, not reached), as
    Google's; then a range from -a to a means a random sign. `fill` is the grey beyond the border.
    """

    operations: Mapping[str, Sequence[float] | None]
    num_operations: int = 3
    probability: float = 1.0
    levels: int | None = None
    fill: int = 0

    def __post_init__(self) -> None:
        known = {*PIXEL_OPERATIONS, *AFFINE_OPERATIONS, "identity"}
        for name, span in self.operations.items():
            if name not in known:
                raise ValueError(f"operations.{name} (views) is not one of {', '.join(sorted(known))}.")
            if name in VALUELESS and span is not None:
                raise ValueError(f"operations.{name}={span} (views) would have no effect: it must be null.")
            if name not in VALUELESS and (span is None or len(span) != 2):
                raise ValueError(f"operations.{name}={span} (views) must be a pair [low, high].")
            low, high = LIMITS.get(name, (-np.inf, np.inf))
            if span is not None and not low <= min(span) <= max(span) <= high:
                raise ValueError(f"operations.{name}={list(span)} (views) must lie within [{low}, {high}].")
        if not self.operations or self.num_operations < 1:
            raise ValueError(
                f"num_operations={self.num_operations} of {len(self.operations)} operations (views): at least 1 of 1."
            )
        if not 0 <= self.probability <= 1:
            raise ValueError(f"probability={self.probability} (views) must lie in [0, 1].")
        if not 0 <= self.fill <= 255:
            raise ValueError(f"fill={self.fill} (views) must be a grey from 0 to 255.")
        if self.levels is not None and self.levels < 1:
            raise ValueError(f"levels={self.levels} (views) must be a positive number, or null for a continuous range.")

    def milder(self) -> "RandAugment":
        """One operation, as SequenceMatch's medium view."""
        return replace(self, num_operations=1)

    @property
    def num_draws(self) -> int:  # type: ignore[override]
        return 2 * self.num_operations

    def plan(self, draws: Tensor, dims: torch.Size) -> Turns:
        size, _, height, width = dims
        turns = range(self.num_operations)
        which, amount = draws.double().numpy().T.reshape(2, self.num_operations, size)
        choice = self.choose(which)  # (S, B)
        value = self.scale(choice, amount)
        matrix = np.zeros((*choice.shape, 6))
        for number, name in enumerate(self.operations):
            if name in AFFINE_OPERATIONS:
                drew = choice == number
                matrix[drew] = affine_matrix(name, value[drew], height, width)
        group = np.array([group_of(name) for name in (*self.operations, "identity")])[choice]

        order = np.argsort(group, axis=1, kind="stable")  # (S, B) who stands where in a turn
        place = np.argsort(order, axis=1)  # where everybody stands
        hops = [order[0], *(place[turn - 1][order[turn]] for turn in turns[1:]), place[-1]]
        return Turns(
            orders=torch.from_numpy(np.stack(hops)),
            values=torch.from_numpy(np.take_along_axis(value, order, axis=1).astype(np.float32)),
            matrices=torch.from_numpy(fixed_point(np.take_along_axis(matrix, order[..., np.newaxis], axis=1))),
            counts=[np.bincount(group[turn], minlength=len(GROUPS)).tolist() for turn in turns],
        )

    def choose(self, draw: Numbers) -> NDArray[np.int64]:
        """Which operation; with probability 1 - `probability` none, which is one past the last."""
        # One number decides both: given that it is below the probability, it is uniform up to it.
        none = len(self.operations)
        return np.where(draw < self.probability, draw * none / max(self.probability, 1e-9), none).astype(np.int64)

    def scale(self, choice: NDArray[np.int64], draw: Numbers) -> Numbers:
        """The value of each operation."""
        spans: Numbers = np.array([span or (0, 0) for span in (*self.operations.values(), None)], dtype=np.float64)
        low: Numbers = spans[choice, 0]
        high: Numbers = spans[choice, 1]
        if self.levels is None:
            return low + (high - low) * draw
        signed = low == -high
        step = np.floor(draw * np.where(signed, 2 * self.levels, self.levels))
        level: Numbers = (step % self.levels + 1) / (self.levels + 1)
        return np.where(signed, np.where(step < self.levels, high, low) * level, low + (high - low) * level)

    def __call__(self, images: Tensor, plan: Turns) -> Tensor:
        for order, value, matrix, counts in zip(plan.orders, plan.values, plan.matrices, plan.counts, strict=False):
            groups = (torch.split(each, counts) for each in (images.index_select(0, order), value, matrix))
            images = torch.cat([self.apply(*group) for group in zip(GROUPS, *groups, strict=True)])
        return images.index_select(0, plan.orders[-1])

    def apply(self, group: str, images: Tensor, value: Tensor, matrix: Tensor) -> Tensor:
        if group == "identity" or not len(images):
            return images
        if group == "affine":
            return resample(images, matrix, self.fill)
        return PIXEL_OPERATIONS[group](images, value)
