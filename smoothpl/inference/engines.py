"""The library that computes a trained network on a CPU: torch, or ONNX Runtime, which needs a file of it first."""

from collections.abc import Callable
from typing import NamedTuple

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
FEWEST = 2_000
"""Images for which `auto` has a file written: most networks then gain more seconds than it takes, the others lose about
one (docs/performance.md)."""


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
        return self.run(scaled) if self.is_compared else self.compared(scaled)

    def compared(self, scaled: Tensor) -> Tensor:
        found: Tensor = self.run(scaled)
        wanted: Tensor = self.network(scaled)
        difference = float((found.softmax(dim=-1) - wanted.softmax(dim=-1)).abs().max())
        if difference <= BOUND:
            self.is_compared = True
            return found
        reason = f"its probabilities differ from torch's by {difference:.2g}, and only {BOUND:g} is allowed"
        require(not self.was_asked_for, refused(reason))
        inform_once(f"ONNX Runtime is not used: {reason}; torch computes.")
        self.run, self.name, self.is_compared = self.network, TORCH, True
        return wanted


def engine_of(source: Source, engine: str, num_images: int) -> OnnxRuntime | None:
    """None: torch. `auto` is ONNX Runtime from FEWEST images on."""
    check_engine(engine)
    was_asked_for = engine == ONNXRUNTIME
    if engine == TORCH or (not was_asked_for and not (num_images >= FEWEST and is_installed())):
        return None
    try:
        return OnnxRuntime(by_onnxruntime(source, "networks"), source.network, was_asked_for)
    except ConversionError as error:
        require(not was_asked_for, refused(str(error)))
        inform_once(f"ONNX Runtime cannot compute this network ({error}); torch does, which may take longer.")
        return None


def check_engine(engine: str) -> None:
    """Before anything is computed."""
    require(engine in ENGINES, f"engine={engine} must be one of {', '.join(ENGINES)}.")
    if engine == ONNXRUNTIME and not is_installed():
        raise ConfigError(f"engine=onnxruntime is not installed: {HOW_TO_INSTALL}, or engine=torch.")


def refused(reason: str) -> str:
    return f"engine=onnxruntime cannot compute this network ({reason.rstrip('.')}); use engine=torch, or auto."
