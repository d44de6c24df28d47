"""Backbones and the head of a run as one network."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from smoothpl.backbones.encoder import BRIGHTEST, Encoder
from smoothpl.backbones.engine import Engine, engine_for
from smoothpl.backbones.onnx_session import AT_A_TIME
from smoothpl.errors import ConfigError
from smoothpl.inference.resizing import middles, resized, resizing

CHUNK = AT_A_TIME
"""Images in every batch, padded if need be: another batch size could change the last bits of a result. More of them at
a time take longer each, by torch as by ONNX Runtime (docs/performance.md)."""


class Joined(nn.Module):
    """Pixels of images in, logits out. It is computed in two ways.

    `evaluated` is how test images are evaluated in training: bytes are resized by torch, an engine computes vectors,
    and these are rounded to 16 bits, as a bank keeps them. `forward` is for other programs: one graph, in which images
    are resized by matrices, and nothing is rounded to fewer bits.
    """

    def __init__(
        self,
        encoders: Mapping[str, Encoder],
        head: nn.Module,
        side: int,
        engine: str = "auto",
        as_stored: bool = True,
    ) -> None:
        """side: of the images, before the preprocessing of a backbone; as_stored: round vectors as a bank does, from
        which the head has learned."""
        super().__init__()
        self.names = list(encoders)
        # Of its own: the others are shared by all who build them, and a classifier may be moved to a GPU.
        self.parts = [own(encoder) for encoder in encoders.values()]
        self.encoders = nn.ModuleList(self.parts)
        self.frames = nn.ModuleList(Middle(encoder, side) for encoder in encoders.values())
        self.head = head
        self.engine, self.as_stored = engine, as_stored
        self.started: list[Engine] = []

    def forward(self, pixels: Tensor) -> Tensor:
        """pixels (B, channels, side, side), whole numbers from 0 to 255 -> logits (B, C)."""
        pairs = zip(self.parts, self.frames, strict=True)
        vectors = [encoder.network(frame(pixels)) for encoder, frame in pairs]
        logits: Tensor = self.head(torch.cat(vectors, dim=1))
        return logits

    def evaluated(self, pixels: Tensor) -> Tensor:
        """pixels (B, channels, side, side) uint8 -> logits (B, C)."""
        logits: Tensor = self.head(self.vectors(pixels))
        return logits

    def vectors(self, pixels: Tensor) -> Tensor:
        """pixels as in `evaluated` -> (B, D) float32, of all backbones side by side."""
        found = [engine(engine.encoder.prepare(pixels)) for engine in self.engines]
        vectors = torch.cat(found, dim=1)
        return vectors.half().float() if self.as_stored else vectors

    def use(self, engine: str) -> None:
        """auto: as the run says."""
        if engine != "auto":
            self.engine, self.started = engine, []

    @property
    def engines(self) -> list[Engine]:
        """Made when they are needed, for the device that the network is on then."""
        if not self.started:
            self.started = [engine_for(encoder, self.engine) for encoder in self.parts]
        return self.started

    def __getstate__(self) -> dict[str, Any]:
        """A copy, also in another process, has engines of its own."""
        return {**self.__dict__, "started": []}

    def check_exportable(self) -> None:
        for name, encoder in zip(self.names, self.parts, strict=True):
            if is_file(encoder):
                raise ConfigError(
                    f"backbone {name} is a file of ONNX itself, which cannot be joined with its head in one file; use "
                    "smoothpl predict, or train on a backbone of timm or torchvision."
                )


class Middle(nn.Module):
    """The preprocessing of a backbone, for images of one size, by operations that all formats have."""

    def __init__(self, encoder: Encoder, side: int) -> None:
        super().__init__()
        self.weights: Tensor
        self.factor: Tensor
        self.offset: Tensor
        cut = max(1, round(encoder.crop * side))
        self.is_whole = cut == side == encoder.size
        places = torch.arange(side, dtype=torch.float64)
        weights = resizing(places, torch.tensor(float(cut), dtype=torch.float64), middles(encoder.size))
        self.register_buffer("weights", weights, persistent=False)
        self.register_buffer("factor", encoder.factor.cpu() / BRIGHTEST, persistent=False)
        self.register_buffer("offset", encoder.offset.cpu().clone(), persistent=False)

    def forward(self, pixels: Tensor) -> Tensor:
        """As `Encoder.prepare`."""
        small = pixels if self.is_whole else resized(pixels, self.weights, self.weights)
        return small * self.factor - self.offset


def own(encoder: Encoder) -> Encoder:
    return encoder if is_file(encoder) else deepcopy(encoder)


def is_file(encoder: Encoder) -> bool:
    """Whether another library computes it, which no copy and no graph of torch can hold."""
    return hasattr(encoder.network, "run")
