"""What is chosen for a folder of one's own (data=folder) where nothing was said: plain knobs, by what lies there."""

import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, QuotedString
from hydra.errors import HydraException

from smoothpl.cli.messages import remark
from smoothpl.errors import ConfigError
from smoothpl.resume import key_of, named_run, open_run, quoted

if TYPE_CHECKING:  # torch is imported late: saying no to a typo must not take seconds
    from smoothpl.data.album import Album

SIDES = (8, 16, 32, 64, 96)
"""Pixels: the first that is no smaller than the images are. Larger ones must be asked for, and want a GPU."""
LOOKED_AT = 200
FEW, MANY = 5_000, 50_000
"""Images: from these numbers on, more is learned, and longer."""
SMALL, MANY_LABELS = 16, 400
FOLDS = ((10, 2), (20, 3), (math.inf, 5))
"""Parts by the number of labels: below the first number, the second, if classes have labels enough for it."""
QUIET = ("data", "benchmark", "data.album", "data.told")
READ = ("data", "benchmark", "data.root", "data.labels", "data.size", "max_steps")
USUAL = {
    "net": "wrn_10_1",
    "batch_size": 16,
    "max_steps": 1000,
    "eval_every": 100,
    "ema_decay": 0.99,
    "norm_momentum": 0.01,
}
"""Of conf/benchmark/folder.yaml: for few images."""


def with_choices(arguments: Sequence[str]) -> list[str]:
    """Adds what was not said, and prints it; to a run that goes on nothing, because it has been chosen before."""
    said = spoken(arguments)
    if "folder" not in (said.get("data"), said.get("benchmark")) or "data.album" in said:
        return list(arguments)
    if not said.get("data.root"):
        raise ConfigError("data=folder must know where the images are; add data.root=<folder>.")
    check_one_folder(arguments)
    from smoothpl.data.album import open_album

    root = Path(said["data.root"]).expanduser().absolute()
    album = open_album(str(root), said.get("data.labels"))
    chosen = {key: value for key, value in choose(album, said).items() if key not in said}
    tell(album, chosen)
    added = [f"{key}={value}" for key, value in chosen.items() if USUAL.get(key) != value]
    place = next(number for number, each in enumerate(arguments) if key_of(each) == "data.root")
    # In its place: flags may follow, and argparse wants words together.
    return [*arguments[:place], f"data.root={quoted(str(root))}", *added, *arguments[place + 1 :]]


def check_one_folder(arguments: Sequence[str]) -> None:
    """What is chosen must hold for every job of a sweep."""
    for each in arguments:
        override = understood(each) if key_of(each) in ("data.root", "data.labels", "data.size") else None
        if override is not None and override.is_sweep_override():
            raise ConfigError(f"{each}: one folder, and one size of its images, at a time; begin a sweep for each.")


def spoken(arguments: Sequence[str]) -> dict[str, str]:
    """Words by their keys; of those that are read here, what they mean to Hydra."""
    found = {}
    for each in arguments:
        key, _, text = each.lstrip("+").partition("=")
        override = understood(each) if key in READ else None
        value = text if override is None or override.is_sweep_override() else override.value()
        if value is not None:
            found[key] = value.text if isinstance(value, QuotedString) else str(value)
    return found


def understood(word: str) -> Override | None:
    """None: a path with a comma, a quote, ..., which is quoted for Hydra later."""
    try:
        return OverridesParser.create().parse_override(word)
    except HydraException:
        return None


def with_new_labels(arguments: Sequence[str]) -> list[str]:
    """Labels that were added to the folder since a run was begun are learned from when it goes on (smoothpl.growth)."""
    named, said = named_run(arguments), spoken(arguments)
    if named is None or "num_labels" in said:
        return list(arguments)
    record = open_run(Path(named))
    data = record.config.get("data") or {}
    if "album" not in data:
        return list(arguments)
    from smoothpl.data.album import open_album, told

    album = open_album(said.get("data.root", data["root"]), said.get("data.labels", data["labels"]))
    other = sorted({*album.class_names} ^ {*record.class_names})
    if record.class_names and other:
        raise ConfigError(
            f"data.root={album.root} has other classes than this run, {', '.join(other)}; a network cannot learn new "
            "ones. Correct their labels, or begin a new run."
        )
    before, now = record.config["num_labels"], len(album.label)
    if before == now and told(album) != data["told"]:
        raise ConfigError(
            f"data.root={album.root} has as many labels as this run has had, but others; what was learned cannot be "
            "taken back. Begin a new run."
        )
    return [*arguments, *([f"num_labels={now}", f"data.told={told(album)}"] if now != before else [])]


def choose(album: "Album", said: dict[str, str]) -> dict[str, object]:
    from smoothpl.data.album import fingerprint, label_by_content, told
    from smoothpl.data.folder import division

    usual = next(folds for most, folds in FOLDS if len(album.label) < most)
    no_parts = bool(album.test) or "data.folds" in said
    folds, fold = (0, 0) if no_parts else division(label_by_content(album), usual)
    side = int(said["data.size"]) if said.get("data.size", "").isdecimal() else side_of(album)
    chosen: dict[str, object] = {
        "data": "folder",
        "benchmark": "folder",
        "data.num_classes": len(album.class_names),
        "data.album": fingerprint(album),
        "data.told": told(album),
        "data.size": side,
        "data.folds": folds,
        "data.padding": max(1, side // 8),
        "num_labels": len(album.label),
    } | ({"fold": fold} if fold else {})
    of_size: dict[str, object] = dict(USUAL)
    if len(album.files) >= FEW:
        net, batch_size = "wrn_28_2" if side > SMALL else "wrn_10_1", 64 if len(album.label) > MANY_LABELS else 16
        of_size |= {"net": net, "batch_size": batch_size, "max_steps": 5_000, "eval_every": 500}
    if len(album.files) >= MANY:
        of_size |= {"max_steps": 50_000, "eval_every": 5_000, "ema_decay": 0.999, "norm_momentum": 0.001}
    if said.get("max_steps", "").isdecimal():
        of_size["eval_every"] = max(1, int(said["max_steps"]) // 10)
    return chosen | of_size


def side_of(album: "Album") -> int:
    """By the shorter sides of some of the images: only their headers are read."""
    from smoothpl.data.pictures import dims_of

    sides = []
    for file in album.files[:: max(1, len(album.files) // LOOKED_AT)]:
        with suppress(ValueError, OSError):
            sides.append(min(dims_of(album.root / file)))
    usual = median(sides) if sides else SIDES[2]
    return next((side for side in SIDES if side >= usual), SIDES[-1])


def tell(album: "Album", chosen: dict[str, object]) -> None:
    found = f"{len(album.files):,} images, {len(album.label):,} labels of {len(album.class_names)} classes, "
    found += f"{len(album.test):,} test images" if album.test else "no test images"
    remark(f"{album.root}: {found}.")
    told = [f"{key}={value}" for key, value in chosen.items() if key not in QUIET]
    if told:
        remark(f"Chosen by these: {' '.join(told)}")
