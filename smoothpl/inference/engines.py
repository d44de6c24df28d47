"""Which library computes a trained network on a CPU: torch, or ONNX Runtime, which is faster once its file is written."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from smoothpl.backbones.convert import ConversionError
from smoothpl.backbones.encoder import digest_of_network
from smoothpl.backbones.engine import ENGINES, by_onnxruntime
from smoothpl.backbones.installed import HOW_TO_INSTALL
from smoothpl.backbones.onnx_session import is_installed
from smoothpl.cli.messages import inform_once
from smoothpl.errors import ConfigError, require

BOUND = 1e-4
"""By how much a probability may differ from torch's. Where two classes are nearer to each other than twice that, the
other one may be predicted."""
TORCH, ONNXRUNTIME = "torch", "onnxruntime"
FEWEST, FEWEST_OF_PLAIN = 1_000, 10_000
"""Images for which the seconds that it takes to write the file are gained back (docs/performance.md)."""


class Source(NamedTuple):
    """A network as it is converted to a file, which is known by its weights and by how they compute."""

    network: nn.Module
    dims: tuple[int, int, int]

    @property
    def digest(self) -> str:
        return digest_of_network(self.network, str(self.network), self.dims)


class OnnxRuntime:
    """Scaled pixels (B, channels, size, size) in, logits (B, C) out, as the network; the first images are computed by
    both and compared."""

    def __init__(self, run: Callable[[Tensor], Tensor], network: nn.Module, was_asked_for: bool) -> None:
        self.run, self.network, self.was_asked_for = run, network, was_asked_for
        self.name, self.is_compared = ONNXRUNTIME, False

    def __call__(self, scaled: Tensor) -> Tensor:
        if not self.is_compared:
            self.is_compared = True
            return self.compared(scaled)
        return self.run(scaled)

    def compared(self, scaled: Tensor) -> Tensor:
        found: Tensor = self.run(scaled)
        wanted: Tensor = self.network(scaled)
        difference = float((found.softmax(dim=-1) - wanted.softmax(dim=-1)).abs().max())
        if difference <= BOUND:
            return found
        reason = f"its probabilities differ from torch's by {difference:.2g}, and only {BOUND:g} is allowed"
        require(not self.was_asked_for, refused(reason))
        inform_once(f"ONNX Runtime is not used: {reason}; torch computes.")
        self.run, self.name = self.network, TORCH
        return wanted


def engine_of(source: Source, engine: str, num_images: int) -> OnnxRuntime | None:
    """None: torch. `auto` is ONNX Runtime where it pays: from a number of images on, by the family of the network."""
    check_engine(engine)
    was_asked_for = engine == ONNXRUNTIME
    if engine == TORCH or (not was_asked_for and not (num_images >= fewest(source.network) and is_installed())):
        return None
    try:
        return OnnxRuntime(by_onnxruntime(source, "networks"), source.network, was_asked_for)
    except ConversionError as error:
        require(not was_asked_for, refused(str(error)))
        inform_once(f"ONNX Runtime cannot compute this network ({error}); torch does, which may take longer.")
        return None


def fewest(network: nn.Module) -> int:
    """Images from which on `auto` is ONNX Runtime. Ordinary convolutions are about as fast in torch; it is others, and
    attention, that gain."""
    convolutions = [part for part in network.modules() if isinstance(part, nn.Conv2d)]
    weights = sum(part.weight.numel() for part in convolutions)
    is_plain = all(part.groups == 1 for part in convolutions) and 2 * weights > num_weights(network)
    return FEWEST_OF_PLAIN if is_plain else FEWEST


def num_weights(network: nn.Module) -> int:
    return sum(part.numel() for part in network.parameters())


def check_engine(engine: str) -> None:
    """Before anything is computed."""
    require(engine in ENGINES, f"engine={engine} must be one of {', '.join(ENGINES)}.")
    if engine == ONNXRUNTIME and not is_installed():
        raise ConfigError(f"engine=onnxruntime is not installed: {HOW_TO_INSTALL}, or engine=torch.")


def refused(reason: str) -> str:
    return f"engine=onnxruntime cannot compute this network ({reason.rstrip('.')}); use engine=torch, or auto."
