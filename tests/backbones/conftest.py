"""A small encoder, and a cache of one's own."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from smoothpl.backbones import Encoder

MEAN, STD = (0.5, 0.4, 0.3), (0.2, 0.3, 0.4)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "smoothpl"


class Pooled(nn.Module):
    """Six features, with statistics of BatchNorm that training would move."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 6, 1), nn.BatchNorm2d(6), nn.AdaptiveAvgPool2d(1), nn.Flatten())

    def forward(self, pixels: Tensor) -> Tensor:
        found: Tensor = self.layers(pixels)
        return found


def made(size: int = 8, crop: float = 1.0, architecture: str = "pooled", seed: int = 0) -> Encoder:
    torch.manual_seed(seed)
    return Encoder(Pooled(), "pooled", architecture, size, crop, MEAN, STD)


def images(height: int, width: int, channels: int = 3) -> Tensor:
    return torch.randint(0, 256, (4, channels, height, width), dtype=torch.uint8, generator=torch.manual_seed(1))
