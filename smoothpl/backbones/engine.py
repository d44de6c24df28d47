"""Engines: what computes the vectors of prepared pixels. ONNX Runtime is several times as fast as torch on a CPU."""

import os
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import torch
from torch import Tensor, nn

from smoothpl.backbones.convert import (
    ConversionError,
    Convertible,
    device_of,
    exported,
    failing_as_conversion,
    traced,
)
from smoothpl.backbones.encoder import Encoder
from smoothpl.backbones.onnx_session import is_installed, open_session, runner
from smoothpl.cli.messages import inform_once
from smoothpl.errors import ConfigError
from smoothpl.io.atomic import PRIVATE, create, put
from smoothpl.io.cache import cache_dir, make_private, recall, state_of

ENGINES = ("auto", "onnxruntime", "torch")
TOLERANCE = 1e-4
"""Of the largest number of a vector: below the 5e-4 that are lost where vectors are kept with 16 bits."""

WRITING = 1
"""Another number whenever files are written in another way, so that older ones in a cache are not read."""

MOST_KEPT = 20
"""Files of a kind in the cache, the newest ones: every network that is trained is another one."""


class Engine:
    """Prepared pixels (B, 3, size, size) in, vectors (B, dim) float32 out, all of them finite."""

    def __init__(self, encoder: Encoder, name: str, compute: Callable[[Tensor], Tensor]) -> None:
        self.encoder, self.name, self.compute = encoder, name, compute

    def __call__(self, prepared: Tensor) -> Tensor:
        vectors = self.compute(prepared).float()
        if not bool(torch.isfinite(vectors).all()):
            number = int((~torch.isfinite(vectors).all(dim=1)).sum())
            raise ConfigError(
                f"backbone {self.encoder.name} gives vectors that are not finite for {number} of {len(vectors)} images "
                f"(engine {self.name}); its weights are damaged or do not suit these images: use another backbone."
            )
        return vectors


def engine_for(encoder: Encoder, engine: str = "auto") -> Engine:
    """`auto`: ONNX Runtime where it is installed and the encoder is on the CPU; torch elsewhere."""
    if engine not in ENGINES:
        raise ConfigError(f"backbone.engine={engine} must be one of {', '.join(ENGINES)}.")
    own = getattr(encoder.network, "run", None)  # a file of ONNX, which no other engine can compute
    if own is not None:
        if engine == "torch":
            raise ConfigError(f"backbone.engine=torch cannot compute {encoder.name}, a file of ONNX; use auto.")
        return Engine(encoder, "onnxruntime", own)
    if engine == "torch" or (engine == "auto" and (encoder.offset.is_cuda or not is_installed())):
        return Engine(encoder, "torch", lambda prepared: by_torch(encoder.network, prepared))
    try:
        return Engine(encoder, "onnxruntime", by_onnxruntime(encoder))
    except ConversionError as error:
        if engine == "onnxruntime":
            raise ConfigError(
                f"backbone.engine=onnxruntime cannot compute {encoder.name} ({error}); use torch."
            ) from error
        inform_once(f"ONNX Runtime cannot compute {encoder.name} ({error}); torch does, which takes longer.")
        return engine_for(encoder, "torch")


def by_torch(network: nn.Module, prepared: Tensor) -> Tensor:
    with torch.no_grad():
        # Colours side by side: half the time for most networks on a CPU.
        found: Tensor = network(prepared.contiguous(memory_format=torch.channels_last))
    return found


def by_onnxruntime(source: Convertible, kind: str = "backbones") -> Callable[[Tensor], Tensor]:
    """The network as a file of ONNX: made once, kept in the cache, and compared with torch."""
    place = cache_dir() / kind / f"{source.digest}-{WRITING}.onnx"
    with suppress(OSError, ConversionError):
        run, state = opened(place.read_bytes()), state_of(place)
        recall(f"{kind}/compared", [state], lambda: compare(run, source), version("onnxruntime"), version("torch"))
        return run
    reasons = []
    for write in (traced, exported):
        try:
            content = write(source)
            run = opened(content)
            compare(run, source)
        except ConversionError as error:
            reasons.append(str(error))
            continue
        keep(place, content)
        return run
    raise ConversionError(reasons[0])


def opened(content: bytes) -> Callable[[Tensor], Tensor]:
    with failing_as_conversion():
        return runner(open_session(content))


def compare(run: Callable[[Tensor], Tensor], source: Convertible) -> float:
    """With torch, on images of noise and another batch size than the file was made with. -> the largest difference."""
    noise = torch.randn(3, *source.dims, generator=torch.Generator().manual_seed(0))
    with failing_as_conversion():
        found = run(noise)
    wanted = by_torch(source.network, noise.to(device_of(source.network))).cpu()
    if found.shape != wanted.shape:
        raise ConversionError(f"its vectors are {tuple(found.shape)}, not {tuple(wanted.shape)}")
    largest, difference = float(wanted.abs().max()), float((found - wanted).abs().max())
    if not difference <= TOLERANCE * largest:
        raise ConversionError(f"its vectors differ from torch's by {difference:.2g}, of at most {largest:.2g}")
    return difference


def keep(place: Path, content: bytes) -> None:
    """In the cache, if that can be written to; otherwise it is made again next time."""
    draft = place.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        make_private(place.parent)
        try:
            with open(create(draft, PRIVATE), "wb") as file:
                file.write(content)
            put(draft, place)
        finally:
            draft.unlink(missing_ok=True)
        for old in sorted(place.parent.glob("*.onnx"), key=lambda each: each.stat().st_mtime)[:-MOST_KEPT]:
            old.unlink(missing_ok=True)
