"""Weights in a file, which may come from a stranger: tensors are read, and nothing is run."""

import re
import warnings
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.serialization import safe_globals

from smoothpl.errors import ConfigError

FILES = (".pt", ".pth", ".ckpt", ".bin", ".safetensors")
CODE = re.compile(r"GLOBAL (?P<name>[\w.]+)|(?P<script>TorchScript)")
"""How torch says that a file wants more than tensors. The rest of its text advises to run it all the same."""
WAY_OUT = "a state dict that torch.save has written, or .safetensors"


def read_weights(place: str, knob: str, group: str = "net") -> dict[str, Tensor]:
    path, what = Path(place).expanduser(), f"{group}.{knob}={place}"
    if not path.is_file():
        raise ConfigError(f"{what} is not there; name a file of weights ({', '.join(FILES)}).")
    try:
        content = loaded(path)
    except ImportError as error:
        raise ConfigError(f"{what} needs safetensors: pip install 'smoothpl[export]'.") from error
    except PermissionError as error:
        raise ConfigError(f"{what} may not be read; change its permissions, or name another file.") from error
    except Exception as error:  # pickle has many ways to fail
        raise refusal(what, str(error)) from error
    return tensors_of(content, what)


def loaded(path: Path) -> Any:
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(path)
    with warnings.catch_warnings(), safe_globals([Namespace]):  # in which DINO keeps its options
        warnings.simplefilter("ignore")  # of other formats, which are refused
        return torch.load(path, weights_only=True, map_location="cpu")


def refusal(what: str, reason: str) -> ConfigError:
    found = CODE.search(reason)
    if found is not None:
        return ConfigError(
            f"{what} holds code ({found['name'] or found['script']}), and is not read: it could do anything here; save "
            "its weights alone, as .safetensors."
        )
    return ConfigError(f"{what} holds no weights that can be read: it is damaged, or of another format; use {WAY_OUT}.")


def tensors_of(content: Any, what: str) -> dict[str, Tensor]:
    """Self-supervised methods wrap the weights: {"state_dict": {...}}, {"teacher": {...}}, ..."""
    for key in ("state_dict", "model", "teacher", "student"):
        if isinstance(content, Mapping) and isinstance(content.get(key), Mapping):
            return tensors_of(content[key], what)
    items = content.items() if isinstance(content, Mapping) else ()
    found = {str(key): value for key, value in items if isinstance(value, Tensor)}
    if not found:
        raise ConfigError(f"{what} holds no weights: no tensors with names; use {WAY_OUT}.")
    return found
