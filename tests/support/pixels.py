"""A backbone for tests that takes no time, and whose features are good enough for digits: the pixels themselves."""

import torch
from torch import Tensor, nn

from smoothpl.backbones import Encoder

SIDE, FEATURES = 8, 96


class Pixels(nn.Module):
    """Grey pixels, and some random features of them."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(SIDE * SIDE, FEATURES)

    def forward(self, pixels: Tensor) -> Tensor:
        grey = pixels.mean(dim=1).flatten(1)
        return torch.cat([grey, self.mix(grey).relu()], dim=1)


def encoder(size: int = SIDE) -> Encoder:
    """For `backbone.encoders`: conf/backbone/pixels.yaml beside this file."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Encoder(Pixels(), "pixels", "grey pixels", size)
