"""Export formats: how each is written, and read again with the library that others will use."""

import json
from collections.abc import Callable
from copy import deepcopy
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from smoothpl.errors import ConfigError
from smoothpl.inference.portable import Portable

ANY_SIZE = (dict(zip((0, 2, 3), torch.export.dims("batch", "height", "width"), strict=True)),)


class Format(NamedTuple):
    write: Callable[[Portable, Tensor, dict[str, str], Path], None]  # with images to trace, and metadata
    read: Callable[[Path, Portable], Callable[[Tensor], Tensor]]


def write_onnx(model: Portable, pixels: Tensor, metadata: dict[str, str], path: Path) -> None:
    onnx = needed("onnx")
    needed("onnxscript")
    program = torch.onnx.export(
        model,
        (pixels,),
        dynamo=True,
        verbose=False,
        input_names=["pixels"],
        output_names=["probabilities"],
        dynamic_shapes=ANY_SIZE,
    )
    assert program is not None
    proto = program.model_proto  # a new object at every access
    onnx.helper.set_model_props(proto, metadata)
    onnx.checker.check_model(proto)
    onnx.save(proto, path)


def read_onnx(path: Path, _: Portable) -> Callable[[Tensor], Tensor]:
    session = needed("onnxruntime").InferenceSession(path, providers=["CPUExecutionProvider"])
    return lambda pixels: torch.from_numpy(session.run(None, {"pixels": pixels.numpy()})[0])


def write_torchscript(model: Portable, pixels: Tensor, metadata: dict[str, str], path: Path) -> None:
    traced: Any = torch.jit.trace(model, pixels)  # type: ignore[no-untyped-call]
    torch.jit.save(traced, path, _extra_files={"metadata.json": json.dumps(metadata)})


def read_torchscript(path: Path, _: Portable) -> Callable[[Tensor], Tensor]:
    loaded: Callable[[Tensor], Tensor] = torch.jit.load(path)  # type: ignore[no-untyped-call]
    return loaded


def write_torch_export(model: Portable, pixels: Tensor, metadata: dict[str, str], path: Path) -> None:
    program = torch.export.export(model, (pixels,), dynamic_shapes=ANY_SIZE)
    torch.export.save(program, path, extra_files={"metadata.json": json.dumps(metadata)})


def read_torch_export(path: Path, _: Portable) -> Callable[[Tensor], Tensor]:
    loaded: Callable[[Tensor], Tensor] = torch.export.load(path).module()
    return loaded


def write_safetensors(model: Portable, _: Tensor, metadata: dict[str, str], path: Path) -> None:
    state = {name: tensor.contiguous() for name, tensor in model.classifier.network.state_dict().items()}
    needed("safetensors.torch").save_file(state, path, metadata=metadata)


def read_safetensors(path: Path, model: Portable) -> Callable[[Tensor], Tensor]:
    other = deepcopy(model)
    other.classifier.network.load_state_dict(needed("safetensors.torch").load_file(path))
    return other


def needed(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        raise ConfigError(f"this format needs {name}: pip install 'smoothpl[export]'.") from error


FORMATS = {
    "onnx": Format(write_onnx, read_onnx),
    "torchscript": Format(write_torchscript, read_torchscript),
    "torch_export": Format(write_torch_export, read_torch_export),
    "safetensors": Format(write_safetensors, read_safetensors),
}
