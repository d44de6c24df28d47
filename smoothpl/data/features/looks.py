"""Looks: the views of an image that a bank keeps, each a pure function of the image and of the look's number."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from smoothpl.data.frames import Frame
from smoothpl.data.randomness import Stream, generator
from smoothpl.data.source import Images
from smoothpl.data.views import View

LOWER = 2**63 - 1


@dataclass(frozen=True, eq=False)  # known by itself: its parts need not be comparable
class Look:
    """View number `number` of its kind; without a view, the image as it is tested."""

    name: str  # plain, weak, strong, medium, simclr, or turned and by how many quarters
    number: int
    view: View | None
    frame: Frame | None  # for pictures of many sizes
    stream: Stream | None

    @property
    def num_frame_draws(self) -> int:
        return 0 if self.frame is None else self.frame.num_draws

    def draws(self, contents: np.ndarray[Any, Any]) -> tuple[Tensor, Tensor]:
        """contents (B, 2) -> what chance decides about the frame (B, ...), and about the view (B, ...)."""
        if self.view is None or self.stream is None:
            return torch.empty(len(contents), 0), torch.empty(len(contents), 0)
        count = self.num_frame_draws + self.view.num_draws
        drawn = np.empty((len(contents), count), dtype=np.float32)
        for row, key in zip(drawn, contents[:, 0].tolist(), strict=True):
            generator(key & LOWER, self.stream, self.number).random(out=row, dtype=np.float32)
        frame, view = torch.split(torch.from_numpy(drawn), [self.num_frame_draws, self.view.num_draws], dim=1)
        return frame, view

    def of(self, images: Tensor, draws: Tensor) -> Tensor:
        """Pixels (B, channels, height, width), uint8 or float in [0, 1], of images that were read."""
        return images if self.view is None else self.view(images, self.view.plan(draws, images.shape))


def pixels_of(images: Images, index: Tensor, contents: np.ndarray[Any, Any], looks: Sequence[Look]) -> list[Tensor]:
    """Some images by all looks; every picture is opened once for all looks that share a frame."""
    drawn = [look.draws(contents) for look in looks]
    if images.same_size:
        (read,) = images.read(index, None, [torch.empty(len(index), 0)])
        return [look.of(read, draws) for look, (_, draws) in zip(looks, drawn, strict=True)]
    shown: dict[int, Tensor] = {}
    for frame in {id(look.frame): look.frame for look in looks}.values():
        here = [number for number, look in enumerate(looks) if look.frame is frame]
        framed = images.read(index, frame, [drawn[number][0] for number in here])
        shown |= {number: looks[number].of(each, drawn[number][1]) for number, each in zip(here, framed, strict=True)}
    return [shown[number] for number in range(len(looks))]
