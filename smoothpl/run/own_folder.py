"""What lies in a folder of one's own, and what follows from it."""

from contextlib import suppress
from typing import TYPE_CHECKING

from smoothpl.cli.messages import inform
from smoothpl.config.folder_defaults import FOLDS, FolderFacts, suiting_backbone
from smoothpl.config.overrides import CommandLine

if TYPE_CHECKING:  # torch is imported late: refusing a typo must not take seconds
    from smoothpl.data.folder.scan import Scan

LOOKED_AT = 200
"""Images of a folder whose dims are read."""
HEADS = ("linear", "mlp", "cosine")
"""Networks on the features of a backbone."""
QUIET = ("data", "benchmark", "data.images_digest", "data.labels_digest")
"""Chosen, and not worth a word."""


def facts_of(scan: "Scan", divides: bool, fold: int | None = None) -> FolderFacts:
    """`divides`: find out how the labeled images can be divided, if there are no test images."""
    from smoothpl.data.folder.held_out import division

    folds, part = (0, 0) if scan.test or not divides else division(scan.label_by_content, FOLDS, fold)[:2]
    return FolderFacts(
        num_images=len(scan.files),
        num_labels=len(scan.label),
        num_classes=len(scan.class_names),
        num_test=len(scan.test),
        images_digest=scan.images_digest,
        labels_digest=scan.labels_digest,
        shorter_sides=shorter_sides(scan),
        folds=folds,
        fold=part,
    )


def shorter_sides(scan: "Scan") -> list[int]:
    """Pixels of the shorter sides of some images; only their headers are read."""
    from smoothpl.data.decode import dims_of

    sides = []
    for path in scan.paths[:: max(1, len(scan.files) // LOOKED_AT)]:
        with suppress(ValueError, OSError):
            sides.append(min(dims_of(path)))
    return sides


def tell(scan: "Scan", chosen: dict[str, object], facts: FolderFacts) -> None:
    from smoothpl.data.folder.held_out import meaning

    found = f"{len(scan.files):,} images, {len(scan.label):,} labels in {len(scan.class_names)} classes, "
    found += f"{len(scan.test):,} test images" if scan.test else "no test images"
    inform(f"{scan.root}: {found}.")
    words = [f"{key}={value}" for key, value in chosen.items() if key not in QUIET]
    if words:
        inform(f"Chosen for this folder: {' '.join(words)}")
    if facts.folds:
        inform(meaning(scan.label_by_content, facts.folds, facts.fold))


def chosen_backbone(line: CommandLine, facts: FolderFacts) -> dict[str, object] | None:
    """The backbone that was typed, or that suits the images; None if the network shall learn from images themselves."""
    from smoothpl.backbones.installed import HOW_TO_INSTALL, is_installed

    if "backbone" in line.keys:
        return None if line.get("backbone") == "none" else judged(line)
    if line.get("net") not in (None, *HEADS):
        return None
    if not is_installed():
        inform(f"Few labels go further with a pretrained backbone: {HOW_TO_INSTALL}.")
        return None
    return suiting_backbone(facts, number(line, "data.size")) | judged(line)


def judged(line: CommandLine) -> dict[str, object]:
    """With features it costs seconds to find out whether the unlabeled images have helped; so it is always asked."""
    if line.get("method") == "supervised" or "finetune" in line.keys:
        return {}
    if line.get("trainer") == "ddp":
        if "verdict" not in line.keys:
            inform("No verdict with trainer=ddp: it trains on one device. Compare with a run of method=supervised.")
        return {}
    return {"verdict": "choose"}


def number(line: CommandLine, key: str) -> int | None:
    text = line.get(key) or ""
    return int(text) if text.isdecimal() else None
