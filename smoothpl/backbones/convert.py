"""From a network of torch to a file of ONNX."""

import ctypes
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import torch
from torch import Tensor, nn

from smoothpl.errors import ConfigError


class ConversionError(Exception):
    """A network that has no equal in ONNX. The message says why."""


class Convertible(Protocol):
    """A network with what a file of it needs to know; an encoder is one."""

    @property
    def network(self) -> nn.Module: ...

    @property
    def digest(self) -> str: ...

    @property
    def dims(self) -> tuple[int, int, int]:
        """Of the images that the network sees: channels, height, width."""


def traced(source: Convertible) -> bytes:
    """By torch's older way, which takes a third of the time of the newer one."""
    with failing_as_conversion(), silently(), without_fast_path(), torch.no_grad(), TemporaryDirectory() as folder:
        place = Path(folder) / "network.onnx"
        torch.onnx.export(
            source.network,
            (example(source),),
            place,
            dynamo=False,
            input_names=["pixels"],
            output_names=["vectors"],
            dynamic_axes={"pixels": {0: "batch"}, "vectors": {0: "batch"}},
        )
        return simplified(place.read_bytes())


def simplified(content: bytes) -> bytes:
    """Computes beforehand what does not depend on the images. ONNX Runtime does that, too, but too late to join padding
    with convolutions: EfficientNet-Lite0 takes a third less time."""
    optimizer, onnx = import_module("onnxscript.optimizer"), import_module("onnx")
    found: bytes = optimizer.optimize(onnx.load_from_string(content)).SerializeToString()
    return found


def exported(source: Convertible) -> bytes:
    with failing_as_conversion(), without_fast_path(), torch.no_grad():
        program = torch.onnx.export(
            source.network,
            (example(source),),
            dynamo=True,
            verbose=False,
            input_names=["pixels"],
            output_names=["vectors"],
            dynamic_shapes=({0: torch.export.Dim("batch")},),
        )
        assert program is not None
        content: bytes = program.model_proto.SerializeToString()
    return content


def example(source: Convertible) -> Tensor:
    return torch.zeros(2, *source.dims, device=device_of(source.network))


def device_of(network: nn.Module) -> torch.device:
    return next(chain(network.parameters(), network.buffers()), torch.empty(0)).device


@contextmanager
def without_fast_path() -> Iterator[None]:
    """Attention in the operations that it is made of: torch fuses them for inference, and neither export knows what it
    makes of them."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


@contextmanager
def silently() -> Iterator[None]:
    """Without what C++ prints on stdout: where the older export fails, the whole graph, amid predictions for a pipe."""
    sys.stdout.flush()
    stdout, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        with suppress(OSError, TypeError):  # Windows has no such library
            ctypes.CDLL(None).fflush(None)  # it may still be in a buffer
        os.dup2(stdout, 1)
        os.close(stdout)
        os.close(nowhere)


@contextmanager
def failing_as_conversion() -> Iterator[None]:
    """Every network fails in its own way, and some with warnings and log lines that nobody can act on."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ConfigError:
        raise
    except Exception as error:
        raise ConversionError((str(error).splitlines() or [type(error).__name__])[0]) from error
    finally:
        logging.disable(before)
