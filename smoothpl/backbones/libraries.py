"""Any network of timm or torchvision as a backbone, with the preprocessing that it was trained with."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torchvision import models

from smoothpl.backbones.encoder import Encoder, Preprocessing, naming_size
from smoothpl.backbones.padding import fix_padding
from smoothpl.cli.messages import counted, first_few, inform_once
from smoothpl.errors import ConfigError
from smoothpl.nets.fetching import fetched
from smoothpl.nets.libraries import (
    PREFIXES,
    SEVERAL_OUTPUTS,
    fitting,
    of_size,
    published_by_timm,
    renamed,
    resized,
    similar,
)
from smoothpl.nets.weight_files import FILES, read_weights

PUBLISHED, RANDOM = "pretrained", "random"
CROP = 0.875
"""Where a model does not say: 224 of 256 pixels."""
NUM_CLASSES = 1000
"""Of the classifiers that torchvision's networks end in, which are cut off."""
Weights = dict[str, Tensor]


def of_timm(
    name: str | None,
    weights: str | None = None,
    size: int | None = None,
    crop: float | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
) -> Encoder:
    """`weights`: pretrained, which are fetched; a file; or random. The preprocessing is the model's where it is not
    set."""
    try:
        import timm
        from timm.models import PretrainedCfg
    except ImportError as error:
        raise ConfigError("backbone=timm needs timm: pip install 'smoothpl[backbone]'.") from error
    if name is None:
        raise ConfigError("backbone.name=null must be a model of timm, for example backbone.name=resnet18.")
    if not timm.is_model(name):
        raise ConfigError(f"backbone.name={name} is not a model of timm; similar names are {similar(name)}.")
    check_weights(weights, (PUBLISHED,))
    known = timm.get_pretrained_cfg(name) or PretrainedCfg()
    own = Preprocessing(known.input_size[-1], known.crop_pct or CROP, known.mean, known.std)
    own = own.but(size=size, crop=crop, mean=mean, std=std)
    knobs: dict[str, Any] = {"num_classes": 0}
    if known.fixed_input_size:
        knobs["img_size"] = own.size
    network = made(lambda: timm.create_model(name, **knobs), name, own.size)
    if weights == PUBLISHED:
        network.load_state_dict(fetched(lambda: published_by_timm(name, knobs), weights, "backbone"))
    elif weights != RANDOM:
        fill(network, read_weights(str(weights), "weights", "backbone"), f"backbone.weights={weights}", name)
    with naming_size(name, own.size):
        fix_padding(network, own.size)
    return Encoder(network, name, f"timm {name}", *own)


def of_torchvision(
    name: str | None,
    weights: str | None = None,
    size: int | None = None,
    crop: float | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
) -> Encoder:
    """`weights`: pretrained or one of torchvision's names, which are fetched; a file; or random."""
    known = [each for each in models.list_models(module=models) if each not in SEVERAL_OUTPUTS]
    if name is None or name not in known:
        raise ConfigError(
            f"backbone.name={'null' if name is None else name} is not a classification model of torchvision; known are "
            f"{', '.join(known)}."
        )
    choices = models.get_model_weights(name).__members__
    check_weights(weights, (PUBLISHED, *choices))
    chosen = choices.get(str(weights), choices["DEFAULT"])
    given = chosen.transforms()
    side = given.crop_size[0]
    own = Preprocessing(side, side / given.resize_size[0], given.mean, given.std)
    own = own.but(size=size, crop=crop, mean=mean, std=std)
    network = made(lambda: headless(models.get_model(name, weights=None, **of_size(name, own.size))), name, own.size)
    if weights == PUBLISHED or weights in choices:
        found = fetched(lambda: chosen.get_state_dict(check_hash=True, weights_only=True), str(weights), "backbone")
        fill(network, found, f"backbone.weights={weights}", name)
    elif weights != RANDOM:
        fill(network, read_weights(str(weights), "weights", "backbone"), f"backbone.weights={weights}", name)
    return Encoder(network, name, f"torchvision {name}", *own)


def check_weights(weights: str | None, names: Sequence[str]) -> None:
    if weights not in (*names, RANDOM) and Path(weights or "").suffix not in FILES:
        raise ConfigError(
            f"backbone.weights={'null' if weights is None else weights} must be {' or '.join(names)} (fetched), a file "
            f"({', '.join(FILES)}), or {RANDOM}, which knows nothing of pictures."
        )


def made(make: Callable[[], nn.Module], name: str, size: int) -> nn.Module:
    """Random weights are the same in every process: vectors of them can be kept."""
    with torch.random.fork_rng(devices=[]), naming_size(name, size):
        torch.manual_seed(0)
        return make()


def headless(network: nn.Module) -> nn.Module:
    """Without the last layer, which names classes; what it would see are the features."""
    last = [name for name, part in network.named_modules() if num_outputs(part) == NUM_CLASSES][-1]
    network.set_submodule(last, nn.Identity())
    return network


def num_outputs(part: nn.Module) -> int | None:
    if isinstance(part, nn.Linear):
        return part.out_features
    return part.out_channels if isinstance(part, nn.Conv2d) else None


def fill(network: nn.Module, weights: Weights, what: str, name: str) -> None:
    """Every tensor of a frozen network must be in the file: one that starts at random would never learn."""
    own = {key: value for key, value in network.state_dict().items() if not key.endswith("num_batches_tracked")}
    inner = max((renamed(weights, prefix) for prefix in ("", *PREFIXES)), key=lambda each: len(fitting(each, own)))
    fits: Weights = {}
    for change in (unchanged, resized, by_timm):
        changed = change(network, inner)
        fits = fitting(changed, network.state_dict())
        missing = [key for key in own if key not in fits]
        if not missing:
            break
    if missing:
        raise ConfigError(
            f"{what} is not for {name}: {len(missing)} of its {counted(len(own), 'tensor', 'tensors')} "
            f"{'is' if len(missing) == 1 else 'are'} not in it, or of other dims "
            f"({first_few(missing)}); use the file of this network."
        )
    network.load_state_dict(fits, strict=False)
    if unused := [key for key in changed if key not in fits]:
        inform_once(f"{what}: {counted(len(unused), 'tensor is', 'tensors are')} not used: {first_few(unused)}")


def unchanged(_: nn.Module, weights: Weights) -> Weights:
    return weights


def by_timm(network: nn.Module, weights: Weights) -> Weights:
    """What timm does to published weights: names of other libraries, positions for another size of images."""
    change = getattr(sys.modules[type(network).__module__], "checkpoint_filter_fn", None)
    try:
        found: Mapping[str, Tensor] = weights if change is None else change(dict(weights), network)
    except Exception:  # of another network: anything may be missing
        return weights
    return dict(found)
