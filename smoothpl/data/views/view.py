"""View: a pure function of an image and of a few uniform numbers, in two parts: plan on the CPU, pixels anywhere."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


class View(ABC):
    """Turns uint8 pixels into uint8 pixels, or into float pixels in [0, 1], image by image, the whole batch at once."""

    num_draws: int
    """How many uniform numbers in [0, 1) one image consumes."""

    def plan(self, draws: Tensor, dims: torch.Size) -> Any:
        """draws (B, num_draws) on the CPU, dims of the images to come -> all that chance decides, in any structure.

        Tensors in it will travel to the device of the images; plain numbers stay here, and can be read without waiting.
        """
        return draws

    @abstractmethod
    def __call__(self, images: Tensor, plan: Any) -> Tensor:
        """images (B, channels, height, width) uint8 -> the same dims."""

    def milder(self) -> "View":
        """Between weak and strong, for methods that want a medium view; a view that has no degrees stays as it is."""
        return self


@dataclass(frozen=True)
class Chain(View):
    """One view after the other, in the order of the YAML. All but the last must give uint8 pixels."""

    steps: Mapping[str, View]

    @property
    def num_draws(self) -> int:  # type: ignore[override]
        return sum(step.num_draws for step in self.steps.values())

    def plan(self, draws: Tensor, dims: torch.Size) -> list[Any]:
        parts = torch.split(draws, [step.num_draws for step in self.steps.values()], dim=1)
        return [step.plan(part, dims) for step, part in zip(self.steps.values(), parts, strict=True)]

    def milder(self) -> "Chain":
        return Chain({name: step.milder() for name, step in self.steps.items()})

    def __call__(self, images: Tensor, plan: list[Any]) -> Tensor:
        for step, part in zip(self.steps.values(), plan, strict=True):
            images = step(images, part)
        return images
