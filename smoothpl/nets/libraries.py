"""Networks of torchvision and timm, with random weights, published ones, or those of a file."""

from argparse import Namespace
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.serialization import safe_globals
from torchvision import models
from torchvision.models.vision_transformer import interpolate_embeddings

from smoothpl.cli.messages import first_few, inform
from smoothpl.errors import ConfigError

FILES = (".pt", ".pth", ".ckpt", ".bin", ".safetensors")
PREFIXES = (
    *("module.", "backbone.", "module.backbone.", "encoder.", "module.encoder.", "encoder_q.", "module.encoder_q."),
    *("model.", "network.", "average."),
)
"""What wrappers and self-supervised methods put before the names of weights."""
POSITIONS = "encoder.pos_embedding"
SEVERAL_OUTPUTS = ("googlenet", "inception_v3")
"""Models that have several outputs while they train, which a loss here does not know."""


def pretrained(
    library: Literal["torchvision", "timm"],
    name: str,
    num_classes: int,
    channels: int = 3,
    size: int | None = None,
    norm_momentum: float = 0.1,
    weights: str | None = None,
    init_from: str | None = None,
) -> nn.Module:
    """Any classification model of a library, for images of `size` x `size` pixels. `weights`: published ones, which are
    fetched, or a file; `init_from`: a file of another method, of which all is taken that fits."""
    if weights is not None and init_from is not None:
        raise ConfigError(
            f"net.weights={weights} and net.init_from={init_from}: a network starts from one of them; leave out the "
            "other."
        )
    if channels != 3:
        raise ConfigError(
            f"data.channels={channels} must be 3 for net.name={name}, which needs colours; use a WideResNet instead."
        )
    files = {"init_from": init_from}
    if weights is not None and Path(weights).suffix in FILES:
        files, weights = {"weights": weights}, None
    network = (of_torchvision if library == "torchvision" else of_timm)(name, num_classes, size, weights)
    for knob, place in files.items():
        if place is not None:
            take(network, read_weights(place, knob), f"{knob}={place}")
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.momentum = norm_momentum
    return network


def tried(make: Callable[[], nn.Module], name: str, size: int | None) -> nn.Module:
    """Makes a network and tries it on one image: some take one size only, or no small ones."""
    try:
        network = make()
        if size is not None:
            with torch.no_grad():
                network.eval()(torch.zeros(1, 3, size, size))
        return network.train()
    except (AssertionError, RuntimeError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"net.name={name} does not take images of {size} x {size} pixels ({reason}); use another data.size (224 "
            "suits most), or another network."
        ) from error


def of_torchvision(name: str, num_classes: int, size: int | None, weights: str | None) -> nn.Module:
    known = [each for each in models.list_models(module=models) if each not in SEVERAL_OUTPUTS]
    if name not in known:
        raise ConfigError(
            f"net.name={name} is not a classification model of torchvision; known are {', '.join(known)}."
        )
    choices = models.get_model_weights(name).__members__
    if weights is not None and weights not in choices:
        raise ConfigError(f"net.weights={weights} must be a file, or one of {', '.join(choices)} (of {name}).")
    knobs = {"num_classes": num_classes, **of_size(name, size)}
    network = tried(lambda: models.get_model(name, weights=None, **knobs), name, size)
    if weights is not None:
        found = models.get_model_weights(name)[weights]
        take(
            network, fetched(lambda: found.get_state_dict(check_hash=True, weights_only=True), weights), f"{weights=!s}"
        )
    return network


def of_size(name: str, size: int | None) -> dict[str, Any]:
    """How models of torchvision that are for one size are made for another."""
    if size is not None and name.startswith("vit_"):
        return {"image_size": size}
    if size is not None and name.startswith("maxvit_"):
        return {"input_size": (size, size)}
    return {}


def of_timm(name: str, num_classes: int, size: int | None, weights: str | None) -> nn.Module:
    try:
        import timm
    except ImportError as error:
        raise ConfigError("net=timm needs timm: pip install 'smoothpl[timm]'.") from error
    if not timm.is_model(name):
        near = timm.list_models(f"*{name[:5]}*")
        raise ConfigError(f"net.name={name} is not a model of timm; similar names are {first_few(near) or 'none'}.")
    if weights not in (None, "pretrained"):
        raise ConfigError(f"net.weights={weights} must be pretrained, a file, or null (net=timm).")
    known = timm.get_pretrained_cfg(name)
    knobs: dict[str, Any] = {"num_classes": num_classes}
    if size is not None and known is not None and known.fixed_input_size:
        knobs["img_size"] = size
    network = tried(lambda: timm.create_model(name, **knobs), name, size)
    if weights is not None:
        network.load_state_dict(
            fetched(lambda: timm.create_model(name, pretrained=True, **knobs).state_dict(), weights)
        )
    return network


def fetched(fetch: Callable[[], Mapping[str, Tensor]], weights: str, group: str = "net") -> dict[str, Tensor]:
    try:
        return dict(fetch())
    except Exception as error:  # of the network, a web site, a cache that is full, ...: all mean the same
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(
            f"{group}.weights={weights} could not be fetched ({reason}); try again, or fetch the file elsewhere and "
            f"name it: {group}.weights=<file>."
        ) from error


def resized(network: nn.Module, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Interpolates the weights of positions in torchvision's vision transformers to another size of images."""
    if not isinstance(network, models.VisionTransformer) or POSITIONS not in weights:
        return weights
    found: dict[str, Tensor] = interpolate_embeddings(network.image_size, network.patch_size, OrderedDict(weights))
    return found


def read_weights(place: str, knob: str, group: str = "net") -> dict[str, Tensor]:
    """Reads a file that may come from a stranger: tensors only."""
    path, what = Path(place).expanduser(), f"{group}.{knob}={place}"
    if not path.is_file():
        raise ConfigError(f"{what} is not there; name a file of weights ({', '.join(FILES)}).")
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            return dict(load_file(path))
        with safe_globals([Namespace]):  # in which DINO keeps its options
            content = torch.load(path, weights_only=True, map_location="cpu")
    except ImportError as error:
        raise ConfigError(f"{what} needs safetensors: pip install 'smoothpl[export]'.") from error
    except Exception as error:  # pickle has many ways to fail, and all mean the same
        raise ConfigError(f"{what} holds no weights that can be loaded safely ({error}).") from error
    return tensors_of(content, what)


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
    """Takes all weights that fit by name and dims (a classifier of other classes does not), and lists the others."""
    own, weights = network.state_dict(), resized(network, weights)
    best = max((renamed(weights, prefix) for prefix in ("", *PREFIXES)), key=lambda each: len(fitting(each, own)))
    fits = fitting(best, own)
    wanted = [key for key in own if not key.endswith("num_batches_tracked")]
    if len([key for key in wanted if key in fits]) < len(wanted) / 2:
        raise ConfigError(
            f"net.{what} fits only {len(fits)} of the {len(own)} tensors of this network, so it is for another one. It "
            f"has {first_few(list(weights))}; this network has {first_few(wanted)}"
        )
    network.load_state_dict(fits, strict=False)
    fresh = [key for key in wanted if key not in fits]
    unused = [key for key in best if key not in fits]
    for names, state in ((fresh, "start at random"), (unused, "are not used")):
        if names:
            inform(f"net.{what}: {len(names)} tensors {state}: {first_few(names)}")


def renamed(weights: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {key.removeprefix(prefix): value for key, value in weights.items() if key.startswith(prefix)}


def fitting(weights: dict[str, Tensor], own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {key: value for key, value in weights.items() if key in own and value.shape == own[key].shape}
