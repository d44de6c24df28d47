"""A frozen network with its preprocessing: pixels in, one vector per image out."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from smoothpl.errors import ConfigError, require
from smoothpl.io.cache import recall, state_of
from smoothpl.io.digests import digest_of

BRIGHTEST = 255.0


class Encoder(nn.Module):
    """What a vector depends on, in one place: the network, its weights, and how pixels are brought to it.

    `network` turns scaled pixels (B, 3, size, size) into vectors (B, dim). `architecture` says what the weights do not:
    how the network of these weights computes.
    """

    def __init__(
        self,
        network: nn.Module,
        name: str,
        architecture: str,
        size: int,
        crop: float = 1.0,
        mean: Sequence[float] = (0.0, 0.0, 0.0),
        std: Sequence[float] = (1.0, 1.0, 1.0),
    ) -> None:
        super().__init__()
        Preprocessing(size, crop, mean, std).check()
        self.network = network.eval().requires_grad_(False)
        self.name, self.size, self.crop = name, size, float(crop)
        self.mean, self.std = tuple(map(float, mean)), tuple(map(float, std))
        self.offset: Tensor
        self.factor: Tensor
        deviation = torch.tensor(self.std).view(3, 1, 1)
        self.register_buffer("offset", torch.tensor(self.mean).view(3, 1, 1) / deviation, persistent=False)
        self.register_buffer("factor", 1 / deviation, persistent=False)
        self.dim = self.tried()
        self.digest = self.computed_digest(architecture)

    @property
    def dims(self) -> tuple[int, int, int]:
        return 3, self.size, self.size

    def prepare(self, pixels: Tensor) -> Tensor:
        """pixels (B, 3 or 1, height, width), bytes or floats in [0, 1] -> (B, 3, size, size) float32, scaled.

        Bytes stay bytes while they are resized, as everywhere else where pictures are read.
        """
        height, width = pixels.shape[-2:]
        side = max(1, round(self.crop * min(height, width)))
        top, left = (height - side) // 2, (width - side) // 2
        middle = pixels[..., top : top + side, left : left + side]
        if side != self.size:
            dims = (self.size, self.size)
            middle = interpolate(middle, dims, mode="bilinear", antialias=True, align_corners=False)
        factor = self.factor if pixels.is_floating_point() else self.factor / BRIGHTEST
        return middle.float() * factor - self.offset  # a grey image becomes three equal colours here

    def forward(self, pixels: Tensor) -> Tensor:
        """pixels as in `prepare` -> vectors (B, dim)."""
        vectors: Tensor = self.network(self.prepare(pixels))
        return vectors

    def train(self, mode: bool = True) -> Self:
        """Never: the running statistics of BatchNorm are frozen, too."""
        return super().train(False)

    def tried(self) -> int:
        """Tries the network on one image: some take one size only, or no small ones. -> the length of a vector."""
        with naming_size(self.name, self.size), torch.no_grad():
            found: Tensor = self.network(torch.zeros(1, 3, self.size, self.size))
        if found.ndim != 2 or not found.is_floating_point():
            raise ConfigError(
                f"{self.name} must give one vector of floats per image, (1, dim); it gives {tuple(found.shape)} of "
                f"{found.dtype}: use a backbone that ends in its pooled features."
            )
        return found.shape[1]

    def computed_digest(self, architecture: str) -> str:
        """32 letters that change with the weights, the architecture and the preprocessing, and with nothing else."""
        return digest_of_network(self.network, architecture, self.size, self.crop, self.mean, self.std)


def digest_of_network(network: nn.Module, *facts: object) -> str:
    """32 letters for its weights, and for what else it depends on."""
    digest = hashlib.sha256(repr(facts).encode())
    for name, tensor in network.state_dict().items():
        if not name.endswith("num_batches_tracked"):  # counted in training, never looked at
            digest.update(repr((name, tuple(tensor.shape), str(tensor.dtype))).encode())
            digest.update(tensor.contiguous().view(-1).view(torch.uint8).numpy())
    return digest.hexdigest()[:32]


@contextmanager
def naming_size(name: str, size: int) -> Iterator[None]:
    """Whatever a network objects to while it is made and tried, it is the size of images."""
    try:
        yield
    except (ArithmeticError, AssertionError, IndexError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ConfigError(
            f"backbone.size={size} is a size that {name} does not take ({reason}); use another (224 suits most), or "
            "another backbone."
        ) from error


class Preprocessing(NamedTuple):
    """How pixels are brought to a network; what a network was trained with, where nothing else is set."""

    size: int
    crop: float
    mean: Sequence[float]
    std: Sequence[float]

    def but(self, **knobs: Any) -> "Preprocessing":
        """With the knobs that are set."""
        found = self._replace(**{name: value for name, value in knobs.items() if value is not None})
        found.check()
        return found

    def check(self) -> None:
        size, crop, *_ = self
        require(size >= 1, f"backbone.size={size} must be a positive number of pixels; 96 or 224 suit most backbones.")
        require(0 < crop <= 1, f"backbone.crop={crop} must be in (0, 1]: a share of the shorter side.")
        for knob, values in (("mean", self.mean), ("std", self.std)):
            require(len(values) == 3, f"{knob}={[*values]} of a backbone must be three numbers: red, green and blue.")
        require(min(self.std) > 0, f"std={[*self.std]} of a backbone must be positive numbers.")


def digest_of_files(places: Sequence[Path]) -> str:
    """32 letters; a file that has not changed since is not read again."""
    found = [recall("digests", [state_of(place)], partial(digest_of, place)) for place in places]
    return hashlib.sha256("".join(found).encode()).hexdigest()[:32]
