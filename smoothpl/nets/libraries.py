"""Networks of torchvision and timm, with random weights, published ones, or those of a file."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torchvision import models
from torchvision.models.vision_transformer import interpolate_embeddings

from smoothpl.cli.messages import NUM_NAMED, first_few, inform
from smoothpl.errors import ConfigError
from smoothpl.nets.fetching import fetched, quiet_hub
from smoothpl.nets.weight_files import FILES, read_weights

PREFIXES = (
    *("module.", "backbone.", "module.backbone.", "encoder.", "module.encoder.", "encoder_q.", "module.encoder_q."),
    *("model.", "network.", "average.", "network.base.", "average.base."),
)
"""What wrappers and self-supervised methods put before the names of weights."""
SHORTEST = 3
"""Letters by which names of models may be alike."""
EXAMPLES = ("resnet18", "vit_small_patch16_224")
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
        raise ConfigError(f"net.name={name} is not a model of timm; similar names are {similar(name)}.")
    if weights not in (None, "pretrained"):
        raise ConfigError(f"net.weights={weights} must be pretrained, a file, or null (net=timm).")
    known = timm.get_pretrained_cfg(name)
    knobs: dict[str, Any] = {"num_classes": num_classes}
    if size is not None and known is not None and known.fixed_input_size:
        knobs["img_size"] = size
    network = tried(lambda: timm.create_model(name, **knobs), name, size)
    if weights is not None:
        network.load_state_dict(fetched(lambda: published_by_timm(name, knobs), weights))
    return network


def published_by_timm(name: str, knobs: dict[str, Any]) -> Mapping[str, Tensor]:
    import timm

    with quiet_hub():
        found: Mapping[str, Tensor] = timm.create_model(name, pretrained=True, **knobs).state_dict()
        return found


def similar(name: str) -> str:
    """Models of timm that begin as a name does, the nearest first; where none does, the nearest of all."""
    import timm

    known = timm.list_models()
    beginnings = (name[:length].lower() for length in range(len(name), SHORTEST - 1, -1))
    alike = next(filter(None, ([each for each in known if each.startswith(start)] for start in beginnings)), known)
    near = get_close_matches(name, alike, n=NUM_NAMED, cutoff=0.5 if alike is known else 0)
    return ", ".join(near) or f"none; for example {', '.join(EXAMPLES)}"


def resized(network: nn.Module, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Interpolates the weights of positions in torchvision's vision transformers to another size of images."""
    if not isinstance(network, models.VisionTransformer) or POSITIONS not in weights:
        return weights
    found: dict[str, Tensor] = interpolate_embeddings(network.image_size, network.patch_size, OrderedDict(weights))
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
