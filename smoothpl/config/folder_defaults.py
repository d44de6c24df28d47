"""What is chosen for a folder of one's own (data=folder) where nothing was typed: plain knobs, by what lies there."""

from collections.abc import Collection
from functools import cache
from statistics import median
from typing import Any, NamedTuple

from omegaconf import OmegaConf

from smoothpl.config.knobs import conf_dir

SIDES = (8, 16, 32, 64, 96)
"""Pixels: the smallest that is at least the size of the images. Larger ones must be asked for, and want a GPU."""
FEW, MANY = 5_000, 50_000
"""Images: from these numbers on, the network is larger, and trains longer."""
SMALL, MANY_LABELS = 16, 400
BACKBONE = "efficientnet_lite0"
ITS_SIZE, LARGER_SIZE = 96, 160
"""Pixels of a side that the backbone sees; the larger one where most images have as many."""
FOLDS = 5
"""Parts of the labeled images, where there are no test images and classes have labels enough for it."""


class FolderFacts(NamedTuple):
    """What the choices depend on."""

    num_images: int
    num_labels: int
    num_classes: int
    num_test: int
    images_digest: str
    labels_digest: str
    shorter_sides: list[int]  # pixels, of some of the images
    folds: int  # parts of the labeled images; 0 with test images
    fold: int  # the one that tests


def usual_side(shorter_sides: Collection[int]) -> int:
    usual = median(shorter_sides) if shorter_sides else SIDES[2]
    return next((side for side in SIDES if side >= usual), SIDES[-1])


def sides_up_to(side: int) -> list[int]:
    """The sides that may be chosen to save time, the largest first; photographs of fewer than 32 pixels show little."""
    return [each for each in reversed(SIDES) if min(side, 32) <= each <= side]


@cache
def benchmark_defaults() -> dict[str, Any]:
    """Plain values, and the network, of conf/benchmark/folder.yaml: those for few images."""
    written: Any = OmegaConf.load(conf_dir() / "benchmark" / "folder.yaml")
    net = next(each["override /net"] for each in written.defaults if "override /net" in each)
    names = ("batch_size", "max_steps", "eval_every", "ema_decay", "norm_momentum")
    return {"net": net} | {name: written[name] for name in names}


def suiting_backbone(facts: FolderFacts, size: int | None) -> dict[str, object]:
    """The backbone for these images, and the size that it sees them in."""
    larger = (median(facts.shorter_sides) if facts.shorter_sides and size is None else size or 0) >= LARGER_SIZE
    return {"backbone": BACKBONE} | ({"backbone.size": LARGER_SIZE} if larger else {})


def choose(
    facts: FolderFacts, size: int | None, max_steps: int | None, backbone: dict[str, object] | None = None
) -> dict[str, object]:
    """Every knob that depends on the folder; `size` and `max_steps` as typed, if they were. With a backbone, how long
    and in what steps is learned comes with its head."""
    seen = (backbone or {}).get("backbone.size")
    side = (seen or usual_side(facts.shorter_sides)) if size is None else size
    assert isinstance(side, int)
    chosen: dict[str, object] = {
        "data": "folder",
        "benchmark": "folder",
        "data.num_classes": facts.num_classes,
        "data.images_digest": facts.images_digest,
        "data.labels_digest": facts.labels_digest,
        "data.size": side,
        "data.folds": facts.folds,
        "data.padding": max(1, side // 8),
        "num_labels": facts.num_labels,
    } | ({"fold": facts.fold} if facts.fold else {})
    if backbone is not None:
        return chosen | backbone | ({"eval_every": max(1, max_steps // 10)} if max_steps is not None else {})
    schedule = dict(benchmark_defaults())
    if facts.num_images >= FEW:
        net, batch_size = "wrn_28_2" if side > SMALL else "wrn_10_1", 64 if facts.num_labels > MANY_LABELS else 16
        schedule |= {"net": net, "batch_size": batch_size, "max_steps": 5_000, "eval_every": 500}
    if facts.num_images >= MANY:
        schedule |= {"max_steps": 50_000, "eval_every": 5_000, "ema_decay": 0.999, "norm_momentum": 0.001}
    if max_steps is not None:
        schedule["eval_every"] = max(1, max_steps // 10)
    return chosen | schedule
