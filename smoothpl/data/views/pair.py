"""Views: the weak and the strong one of a benchmark, on the scale of the network."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import Any, Literal

import torch
from torch import Tensor

from smoothpl.data.batch import Batch, RawStep
from smoothpl.data.source import Images, Reading
from smoothpl.data.views.simclr import SimCLR
from smoothpl.data.views.turns import every_turn, quarter_turns
from smoothpl.data.views.view import View
from smoothpl.data.wanted import FURTHER_VIEWS, Recipe


@dataclass(frozen=True)
class Views:
    """The two views of a benchmark, on the network's scale: zero mean, unit deviation over the training images.

    `learned` names the view that learns the pseudo-label: strong (FixMatch), weak (Pseudo-Labeling), or none.
    """

    weak: View
    strong: View
    mean: Sequence[float]
    std: Sequence[float]
    learned: Literal["weak", "strong"] | None = "strong"
    frame: Reading | None = None  # for pictures of many sizes: the part that a view shows
    test_frame: Reading | None = None

    def __post_init__(self) -> None:
        scales: tuple[tuple[str, Any], ...] = (("mean", self.mean), ("std", self.std))  # of YAML, which knows no types
        for name, values in scales:
            numbers = [each for each in values if isinstance(each, Real) and (name == "mean" or float(each) > 0)]
            if isinstance(values, str) or len(numbers) != max(1, len(values)):
                rule = "one for each channel" if name == "mean" else "one for each channel, all of them positive"
                raise ValueError(f"data.{name}={values} must be a list of numbers, {rule}.")
        if len(self.mean) != len(self.std):
            raise ValueError(f"data.mean={self.mean} and data.std={self.std} must have one number for each channel.")

    def of_step(self, step: RawStep) -> Batch:
        """Runs on whatever device the step is on; the chance in it was drawn beforehand."""
        strong = self.normalise(self.strong(step.of_strong, step.strong_plan)) if self.learned == "strong" else None
        views = {
            name: self.normalise(self.recipe(FURTHER_VIEWS[name].recipe)(images, plan))
            for name, (images, plan) in step.views.items()
        }
        views |= {name: every_turn(view) for name, view in views.items() if FURTHER_VIEWS[name].turns}
        if "turn" in step.chance and strong is not None:
            turned = step.turned
            views["turned"] = quarter_turns(strong, step.chance["turn"]) if turned is None else self.normalise(turned)
        return Batch(
            labeled=self.normalise(self.weak(step.labeled, step.labeled_plan)),
            label=step.label,
            weak=self.normalise(self.weak(step.unlabeled, step.weak_plan)),
            strong=strong,
            image=step.image,
            labeled_image=step.labeled_image,
            views=views,
            chance=step.chance,
            label_weight=step.label_weight,
        )

    def recipe(self, name: Recipe) -> View:
        """A view by its name, also those that only some methods want (smoothpl/data/wanted.py)."""
        made: dict[Recipe, Callable[[], View]] = {
            "weak": lambda: self.weak,
            "strong": lambda: self.strong,
            "medium": self.strong.milder,
            "simclr": SimCLR,
        }
        return made[name]()

    def reading(self, recipe: Recipe) -> Reading | None:
        """What chance decides when the images of such a view are read."""
        return self.frame

    def read_turned(self, images: Images, index: Tensor, draws: Tensor, turn: Tensor) -> Tensor | None:
        """What the strong views show, turned, where it is read: none here, because pixels are turned on the device."""
        return None

    def of_test(self, images: Tensor) -> Tensor:
        return self.normalise(images)

    def normalise(self, pixels: Tensor) -> Tensor:
        """uint8, or float in [0, 1], which a view has made and nobody else needs: in place is many times faster."""
        full = 255 if pixels.dtype == torch.uint8 else 1
        scale = per_channel(tuple(1 / (full * std) for std in self.std), pixels.device)
        shift = per_channel(tuple(-mean / std for mean, std in zip(self.mean, self.std, strict=True)), pixels.device)
        return pixels.float().mul_(scale).add_(shift)

    def as_pixels(self, images: Tensor) -> Tensor:
        """Back from the network's scale, for people: float in [0, 1]."""
        mean, std = (per_channel(tuple(values), images.device) for values in (self.mean, self.std))
        return (images * std + mean).clamp(0, 1)


@cache
def per_channel(values: tuple[float, ...], device: torch.device) -> Tensor:
    """Made once per device: a copy from the host in every step would make it wait."""
    return torch.tensor(values, device=device).view(-1, 1, 1)
