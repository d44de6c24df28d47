"""python -m smoothpl.export: the network of a run as one file, for programs that know nothing of smoothpl."""

import json
import os
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from smoothpl.cli.arguments import flag, read_own_words
from smoothpl.cli.front_door import run_command
from smoothpl.errors import require
from smoothpl.io.atomic import put
from smoothpl.predict import find_files

if TYPE_CHECKING:
    from torch import Tensor

    from smoothpl.classifier import Classifier
    from smoothpl.formats import Format

USAGE = """python -m smoothpl.export run=DIR images=PLACE format=onnx [out=model.onnx]

The network of a finished run as one file. It takes images of any size, RGB in
bytes (batch, 3, height, width), all of one size in a batch, and gives
probabilities: the middle of an image is cut out, resized and scaled inside.
Names of the classes, and what is done to an image, are in its metadata.

  run=DIR          the directory of a finished run
  images=PLACE     a file or folder of images, on which the file must say what
                   the run says, or it is not written
  format=onnx      onnx, torchscript, torch_export or safetensors (weights alone;
                   onnx and safetensors need pip install 'smoothpl[export]')
  out=model.onnx   where to
  trust=false      true: a network of other code than smoothpl's"""
SUFFIXES = {"onnx": ".onnx", "torchscript": ".pt", "torch_export": ".pt2", "safetensors": ".safetensors"}
OWN_WORDS = ("run", "images", "format", "out", "trust")
MOST_CHECKED = 64
TOLERANCE, OF_RESIZED = 1e-4, 0.02
"""Of probabilities: other libraries add in another order; and resizing rounds some pixels to their neighbours."""


def main() -> None:
    words = read_own_words(USAGE, *OWN_WORDS)
    require({"run", "images"} <= words.keys(), "run=<directory> and images=<place> are needed; --help shows more.")
    name = words.get("format", "onnx")
    require(name in SUFFIXES, f"format={name} must be one of {', '.join(SUFFIXES)}.")
    suffix = SUFFIXES[name]
    out = Path(words.get("out", f"model{suffix}"))
    require(out.suffix == suffix, f"out={out} must end with {suffix} (format={name}).")
    files = find_files([words["images"]])
    from smoothpl.classifier import load
    from smoothpl.formats import FORMATS

    classifier = load(words["run"], trust=flag(words, "trust"))
    images = some_images(files)
    difference = export(classifier, FORMATS[name], images, out, metadata(classifier, Path(words["run"])))
    console = Console()
    console.print(f"the same on {len(images)} images, to {difference:.1e}", highlight=False)
    console.print(f"model: {out}", soft_wrap=True, markup=False, highlight=False)


def some_images(files: list[Path]) -> "list[Tensor]":
    """From all over; those that are none are left out."""
    from smoothpl.data.pictures import decode_safely

    found = []
    for path in files[:: max(1, len(files) // MOST_CHECKED)][:MOST_CHECKED]:
        with suppress(ValueError, OSError):
            found.append(decode_safely(path))
    require(bool(found), "images=... holds no image that can be read; the file must be checked on real ones.")
    return found


def metadata(classifier: "Classifier", run_dir: Path) -> dict[str, str]:
    """Texts only: all that the formats have in common."""
    from smoothpl.record.record import read

    record = read(run_dir)
    frame, grey = classifier.prepare.frame, ", made grey" if classifier.prepare.channels == 1 else ""
    return {
        "class_names": json.dumps(list(classifier.class_names)),
        "input": "uint8 (batch, 3, height, width), RGB",
        "output": "probabilities (batch, classes)",
        "preparation": f"the middle, a square of {frame.share} of the shorter side, resized with antialiasing to "
        f"{frame.size} x {frame.size} pixels{grey}, minus 255 mean, by 255 std",
        "mean": json.dumps((classifier.mean.flatten() / 255).tolist()),
        "std": json.dumps((classifier.std.flatten() / 255).tolist()),
        "net": json.dumps(record.config["net"]),
        "run": record.name,
        "error": f"{record.error} % of {record.num_test} {record.tested_on or 'test images'}",
        "smoothpl": record.versions.get("smoothpl", ""),
    }


def export(classifier: "Classifier", kind: "Format", images: "list[Tensor]", out: Path, told: dict[str, str]) -> float:
    """Writes a draft, asks it and the original about the same images, and only then makes it the file."""
    import torch

    from smoothpl.portable import Portable

    model = Portable(classifier)
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = out.with_name(f".{out.stem}.{os.getpid()}{out.suffix}")
    try:
        with warnings.catch_warnings(), torch.inference_mode(False), torch.no_grad():
            warnings.simplefilter("ignore")  # of exporters, about themselves
            kind.write(model, torch.stack([images[0]] * 2), told, draft)  # a batch of one would be the only size
            asked = kind.read(draft, model)
            found, meant = (torch.cat([of(image.unsqueeze(0)) for image in images]) for of in (asked, model))
        differences = {
            TOLERANCE: largest(found - meant),
            OF_RESIZED: largest(found - classifier.predict(images).probabilities),
        }
        for allowed, difference in differences.items():
            require(
                difference <= allowed,
                f"{out} would differ from the run by {difference:.2g} in a probability, where {allowed:g} is allowed, "
                "and was not written; another format may do.",
            )
        put(draft, out)
    finally:
        draft.unlink(missing_ok=True)
    return differences[OF_RESIZED]


def largest(differences: "Tensor") -> float:
    return float(differences.abs().max())


if __name__ == "__main__":
    run_command(main)
