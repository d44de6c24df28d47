"""Networks of torchvision and timm, with random weights, published ones, or those of a file."""

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.serialization import safe_globals
from torchvision import models

from smoothpl.errors import ConfigError
from smoothpl.remarks import remark, some

FILES = (".pt", ".pth", ".ckpt", ".bin", ".safetensors")
PREFIXES = (
    *("module.", "backbone.", "module.backbone.", "encoder.", "module.encoder.", "encoder_q.", "module.encoder_q."),
    *("model.", "network.", "average."),
)
"""Before the names of weights: what wrappers and self-supervised methods leave there."""
SEVERAL_OUTPUTS = ("googlenet", "inception_v3")
"""While they train: not for us."""


def pretrained(
    library: Literal["torchvision", "timm"],
    name: str,
    num_classes: int,
    channels: int = 3,
    norm_momentum: float = 0.1,
    weights: str | None = None,
    init_from: str | None = None,
) -> nn.Module:
    """Any classification model of a library. `weights`: published ones, which are fetched, or a file; `init_from`: a
    file of another method, of which all is taken that fits."""
    if weights is not None and init_from is not None:
        raise ConfigError(f"net.weights={weights} and net.init_from={init_from}: a network begins in one way only.")
    if channels != 3:
        raise ConfigError(f"this network sees colours: data.channels={channels} must be 3; use a WideResNet instead.")
    files = {"init_from": init_from}
    if weights is not None and Path(weights).suffix in FILES:
        files, weights = {"weights": weights}, None
    network = {"torchvision": of_torchvision, "timm": of_timm}[library](name, num_classes, weights)
    for knob, place in files.items():
        if place is not None:
            take(network, read_weights(place, knob), f"{knob}={place}")
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.momentum = norm_momentum
    return network


def of_torchvision(name: str, num_classes: int, weights: str | None) -> nn.Module:
    known = [each for each in models.list_models(module=models) if each not in SEVERAL_OUTPUTS]
    if name not in known:
        raise ConfigError(f"net.name={name} is no classification model of torchvision; known are {', '.join(known)}.")
    network: nn.Module = models.get_model(name, weights=None, num_classes=num_classes)
    if weights is not None:
        choices = models.get_model_weights(name)
        if weights not in choices.__members__:
            raise ConfigError(
                f"net.weights={weights} must be a file, or one of {', '.join(choices.__members__)} (of {name})."
            )
        fetched = choices[weights].get_state_dict(progress=True, check_hash=True, weights_only=True)
        take(network, dict(fetched), f"weights={weights}")
    return network


def of_timm(name: str, num_classes: int, weights: str | None) -> nn.Module:
    try:
        import timm
    except ImportError as error:
        raise ConfigError("net=timm needs timm: pip install 'smoothpl[timm]'.") from error
    if not timm.is_model(name):
        near = timm.list_models(f"*{name[:5]}*")
        raise ConfigError(f"net.name={name} is not a model of timm; near are {some(near) or 'none'}.")
    if weights not in (None, "pretrained"):
        raise ConfigError(f"net.weights={weights} must be pretrained, a file, or null (net=timm).")
    network: nn.Module = timm.create_model(name, pretrained=weights is not None, num_classes=num_classes)
    return network


def read_weights(place: str, knob: str) -> dict[str, Tensor]:
    """Of a file that may come from a stranger: tensors only."""
    path = Path(place).expanduser()
    if not path.is_file():
        raise ConfigError(f"net.{knob}={place} is not there; name a file of weights ({', '.join(FILES)}).")
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            return dict(load_file(path))
        with safe_globals([Namespace]):  # in which DINO keeps its options
            content = torch.load(path, weights_only=True, map_location="cpu")
    except ImportError as error:
        raise ConfigError(f"net.{knob}={place} needs safetensors: pip install 'smoothpl[export]'.") from error
    except Exception as error:  # pickle has many ways to fail, and all mean the same
        raise ConfigError(f"net.{knob}={place} holds no weights that can be loaded safely ({error}).") from error
    return tensors_of(content, f"net.{knob}={place}")


def tensors_of(content: Any, what: str) -> dict[str, Tensor]:
    """Self-supervised methods wrap the weights: {"state_dict": {...}}, {"teacher": {...}}, ..."""
    for key in ("state_dict", "model", "teacher", "student"):
        if isinstance(content, Mapping) and isinstance(content.get(key), Mapping):
            return tensors_of(content[key], what)
    items = content.items() if isinstance(content, Mapping) else ()
    found = {str(key): value for key, value in items if isinstance(value, Tensor)}
    if not found:
        raise ConfigError(f"{what} holds no weights: no tensors with names.")
    return found


def take(network: nn.Module, weights: dict[str, Tensor], what: str) -> None:
    """All weights that fit by name and dims, but the classifier's of another number of classes; says what does not."""
    own = network.state_dict()
    best = max((renamed(weights, prefix) for prefix in ("", *PREFIXES)), key=lambda each: len(fitting(each, own)))
    fits = fitting(best, own)
    wanted = [key for key in own if not key.endswith("num_batches_tracked")]
    if len([key for key in wanted if key in fits]) < len(wanted) / 2:
        raise ConfigError(
            f"net.{what} fits {len(fits)} of the {len(own)} tensors of this network only; it is of another one. It "
            f"has {some(list(weights))}; this one {some(wanted)}"
        )
    network.load_state_dict(fits, strict=False)
    fresh = [key for key in wanted if key not in fits]
    unused = [key for key in best if key not in fits]
    for names, told in ((fresh, "begin at random"), (unused, "are not used")):
        if names:
            remark(f"net.{what}: {len(names)} tensors {told}: {some(names)}")


def renamed(weights: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {key.removeprefix(prefix): value for key, value in weights.items() if key.startswith(prefix)}


def fitting(weights: dict[str, Tensor], own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {key: value for key, value in weights.items() if key in own and value.shape == own[key].shape}
