"""Export of a trained network to one file for other programs; written only if it agrees with the run."""

import json
import os
import warnings
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from smoothpl.data.decode import decode_safely
from smoothpl.errors import require
from smoothpl.inference.classifier import Classifier, load
from smoothpl.inference.formats import FORMATS, Format
from smoothpl.inference.joined import Joined
from smoothpl.inference.portable import Portable
from smoothpl.inference.predictions import find_files
from smoothpl.inference.preprocessing import Preparation
from smoothpl.io.atomic import put
from smoothpl.record.record import read

SUFFIXES = {"onnx": ".onnx", "torchscript": ".pt", "torch_export": ".pt2", "safetensors": ".safetensors"}
MOST_CHECKED = 64
TOLERANCE, RESIZED_TOLERANCE, NEARLY_ALL = 1e-4, 0.02, 0.9
"""Differences of probabilities that are allowed: from the same graph in torch, by the order of sums in other libraries;
from the run itself, because a resized pixel may be rounded to its neighbour. That moves an image on the border of two
classes by more, and says nothing against the file: the second holds for nearly all images."""
JOINED_TOLERANCE = 1e-3
"""The first, for a head on a backbone: it makes features large that hardly vary, and with them the rounding of a deep
network. Torch itself is 1e-4 away from what it computes with 64 bits."""


class Exported(NamedTuple):
    num_images: int  # that it was checked on
    difference: float  # the largest, of a probability


def export_run(run_dir: Path, images: str, format_name: str, out: Path, trust: bool = False) -> Exported:
    """Exports a run; `images` is a file or folder of images on which the export must agree with it."""
    files = find_files([images])
    classifier = load(run_dir, trust)
    if isinstance(classifier.network, Joined):
        classifier.network.check_exportable()
    checked = some_images(files)
    difference = export(classifier, FORMATS[format_name], checked, out, describe(classifier, run_dir))
    return Exported(len(checked), difference)


def some_images(files: list[Path]) -> list[Tensor]:
    """Up to MOST_CHECKED images from all over the list; files that are not images are skipped."""
    found = []
    for path in files[:: max(1, len(files) // MOST_CHECKED)][:MOST_CHECKED]:
        with suppress(ValueError, OSError):
            found.append(decode_safely(path))
    require(bool(found), "images=... holds no image that can be read; the exported file must be checked on real ones.")
    return found


def describe(classifier: Classifier, run_dir: Path) -> dict[str, str]:
    """Strings only, which all formats can hold."""
    record = read(run_dir)
    network = classifier.network
    return {
        "class_names": json.dumps(list(classifier.class_names)),
        "input": "uint8 (batch, 3, height, width), RGB",
        "output": "probabilities (batch, classes)",
        **(of_backbones(classifier, network) if isinstance(network, Joined) else of_images(classifier)),
        "net": json.dumps(record.config["net"]),
        "run": record.name,
        "error": f"{record.error} % of {record.num_test} {record.tested_on or 'test images'}",
        "smoothpl": record.versions.get("smoothpl", ""),
    }


def of_images(classifier: Classifier) -> dict[str, str]:
    return {
        "preparation": f"{cut(classifier.prepare)}, minus 255 * mean, divided by 255 * std",
        "mean": json.dumps((classifier.mean.flatten() / 255).tolist()),
        "std": json.dumps((classifier.std.flatten() / 255).tolist()),
    }


def of_backbones(classifier: Classifier, network: Joined) -> dict[str, str]:
    """What is done to images for each of them, and which weights they have."""
    parts = [
        f"for {name} the middle of that, {each.crop} of its side, resized to {each.size} x {each.size} pixels, minus "
        f"255 * {list(each.mean)}, divided by 255 * {list(each.std)}"
        for name, each in zip(network.names, network.parts, strict=True)
    ]
    return {
        "preparation": "; ".join([cut(classifier.prepare), *parts]),
        "backbones": json.dumps({name: each.digest for name, each in zip(network.names, network.parts, strict=True)}),
    }


def cut(prepare: Preparation) -> str:
    frame, grey = prepare.frame, ", made grey" if prepare.channels == 1 else ""
    return (
        f"the middle, a square of {frame.share} of the shorter side, resized with antialiasing to "
        f"{frame.size} x {frame.size} pixels{grey}"
    )


def export(classifier: Classifier, kind: Format, images: list[Tensor], out: Path, metadata: dict[str, str]) -> float:
    """Writes a draft, compares its predictions with the classifier's, and only then makes it the file."""
    model = Portable(classifier)
    draft = out.with_name(f".{out.stem}.{os.getpid()}{out.suffix}")
    try:
        with warnings.catch_warnings(), torch.inference_mode(False), torch.no_grad():
            warnings.simplefilter("ignore")  # exporters warn about themselves
            # Two images: the export of a batch of one would accept no other size.
            kind.write(model, torch.stack([images[0]] * 2), metadata, draft)
            exported = kind.read(draft, model)
            found, expected = (torch.cat([each(image.unsqueeze(0)) for image in images]) for each in (exported, model))
        from_graph = float((found - expected).abs().max())
        from_run = (found - classifier.predict(images).probabilities).abs().amax(dim=1)  # of each image
        check(out, from_graph, JOINED_TOLERANCE if isinstance(classifier.network, Joined) else TOLERANCE)
        check(out, float(from_run.quantile(NEARLY_ALL)), RESIZED_TOLERANCE)
        put(draft, out)
    finally:
        draft.unlink(missing_ok=True)
    return float(from_run.max())


def check(out: Path, difference: float, allowed: float) -> None:
    require(
        difference <= allowed,
        f"{out} was not written: its probabilities differ from the run's by {difference:.2g}, and only {allowed:g} is "
        "allowed; try another format.",
    )
