"""ONNX Runtime: how a network in a file is opened, and run on batches."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import Tensor

from smoothpl.backbones.installed import HOW_TO_INSTALL
from smoothpl.errors import ConfigError

AT_A_TIME = 16
"""Images: more of them no longer fit the cache of a processor, and take longer each (docs/performance.md)."""


def open_session(network: bytes | str) -> Any:
    """-> an InferenceSession, of a file, which nothing else can open, or of the content of one that was made here; with
    as many threads as torch has."""
    try:
        onnxruntime = import_module("onnxruntime")
    except ImportError as error:
        missing = f"is not installed: {HOW_TO_INSTALL}"
        raise ConfigError(
            f"backbone.path={network} needs ONNX Runtime, which {missing}."
            if isinstance(network, str)
            else f"backbone.engine=onnxruntime {missing}, or backbone.engine=torch."
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # none: what it says of a file is said by the error, too
    # Threads that wait busily take the cores from those that decode pictures.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])


def runner(session: Any, output: str | None = None) -> Callable[[Tensor], Tensor]:
    """Prepared pixels (B, 3, size, size) -> vectors (B, dim), a few images at a time. `output`: else the first."""
    given, wanted = session.get_inputs()[0], None if output is None else [output]
    batch = given.shape[0]
    number = batch if isinstance(batch, int) else AT_A_TIME  # some files are for one number of images only

    def run(prepared: Tensor) -> Tensor:
        pixels = prepared.detach().cpu().contiguous().numpy()
        missing = -len(pixels) % number if isinstance(batch, int) else 0
        if missing:
            pixels = np.concatenate([pixels, np.zeros((missing, *pixels.shape[1:]), pixels.dtype)])
        parts = [pixels[start : start + number] for start in range(0, len(pixels), number)]
        vectors = torch.cat([torch.from_numpy(session.run(wanted, {given.name: part})[0]) for part in parts])
        found = vectors[: len(prepared)].to(prepared.device)
        return found.flatten(1) if list(found.shape[2:]) == [1, 1] else found

    return run


def is_installed() -> bool:
    """ONNX Runtime, and what writes its files."""
    try:
        return all(import_module(name) for name in ("onnxruntime", "onnx", "onnxscript"))
    except ImportError:
        return False
