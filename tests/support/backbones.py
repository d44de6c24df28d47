"""A backbone that takes no time: for tests of everything around it."""

import torch
from torch import nn

from smoothpl.backbones import Encoder
from smoothpl.backbones.engine import Engine, engine_for

TINY_BACKBONE = (
    "backbone=efficientnet_lite0",
    "backbone.size=8",
    "backbone.views=2",
    "backbone.engine=torch",
    "~backbone.encoders.efficientnet_lite0",
    "+backbone.encoders.tiny._target_=tests.support.backbones.tiny_encoder",
)
"""For the command line: features of every image that are made at once."""


class Corners(nn.Module):
    """Means of sixteen parts of an image, and their squares: 96 numbers."""

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        means = nn.functional.adaptive_avg_pool2d(pixels, 4).flatten(1)
        return torch.cat([means, means.square()], dim=1)


def tiny_encoder(size: int = 8) -> Encoder:
    return Encoder(Corners(), "tiny", "corners", size)


def tiny_engine() -> Engine:
    return engine_for(tiny_encoder(), "torch")
