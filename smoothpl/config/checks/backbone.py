"""Backbones: which numbers they take, which of them go together, and settings that would have no effect."""

from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig

from smoothpl.config.checks.numbers import LARGEST_SIDE
from smoothpl.config.overrides import key_of, understood
from smoothpl.errors import require

MOST_VIEWS = 1000
LEAST_SIDE = 2
"""Pixels: to a single one, torch cannot scale images of bytes."""
OF_IMAGES = ("backbone.views", "backbone.engine")
"""Settings for backbones that see images."""


def check_backbone(config: DictConfig, overrides: Sequence[str] = ()) -> None:
    for word in overrides:
        if key_of(word) == "backbone":
            check_list(word)
    if config.backbone is None:
        return
    check_backbone_numbers(config.backbone)
    require(
        "power_mean" not in (config.refine or {}),
        "refine=power_mean compares views by their logits, which a head on features has on another scale than its "
        "confidences; leave it out, or use backbone=none.",
    )
    require(
        "quarters" not in config.views_wanted,
        f"method={config.method} teaches the features of a network by what it adds to FixMatch, and those of a "
        "backbone stay as they are; use method=fixmatch, which it would be, or backbone=none.",
    )
    is_vectors = all(str(each.get("_target_")).endswith(".Embeddings") for each in config.backbone.encoders.values())
    require(
        not is_vectors or "turn" not in config.views_wanted,
        f"method={config.method} turns images, and backbone=embeddings has one vector of each, made elsewhere; use a "
        "backbone that sees images, or another method.",
    )
    for word in overrides:
        require(
            not is_vectors or key_of(word) not in OF_IMAGES,
            f"{word} has no effect with backbone=embeddings: there is one vector of every image, made elsewhere; leave "
            "it out.",
        )


def check_list(word: str) -> None:
    override = understood(word)
    names = override.value() if override is not None else None
    if not isinstance(names, list):
        return
    spelled = [str(name).lower() for name in names]
    require(
        len(names) == 1 or not {"none", "null"} & {*spelled},
        f"{word}: none is for a network that sees images, and cannot be one of several; leave it out, or use "
        "backbone=none.",
    )
    twice = [name for name in dict.fromkeys(spelled) if spelled.count(name) > 1]
    require(
        not twice,
        f"{word} names {', '.join(twice)} twice, and its vectors would be the same; name each backbone once.",
    )


def check_backbone_numbers(backbone: DictConfig) -> None:
    views, size, crop = backbone.get("views", 1), backbone.get("size"), backbone.get("crop")
    require(
        is_whole(views, 1, MOST_VIEWS),
        f"backbone.views={views} must be a whole number from 1 to {MOST_VIEWS:,}: how often each image is looked at; 2 "
        "is usual.",
    )
    require(
        size is None or is_whole(size, LEAST_SIDE, LARGEST_SIDE),
        f"backbone.size={size} must be a whole number of pixels from {LEAST_SIDE} to {LARGEST_SIDE}; 96 or 224 suit "
        "most backbones.",
    )
    require(
        crop is None or (isinstance(crop, int | float) and 0 < crop <= 1),
        f"backbone.crop={crop} must be a number in (0, 1], a share of the shorter side; 1 takes all of it.",
    )


def is_whole(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most
