"""Suggestions as files: a CSV, and a page to click labels on."""

import base64
import csv
import hashlib
import json
from collections.abc import Callable, Container, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import NamedTuple

import torch
from jinja2 import Environment, FileSystemLoader
from PIL import Image

from smoothpl.backbones.embeddings import Embeddings
from smoothpl.backbones.engine import engine_for
from smoothpl.data.decode import decode_safely
from smoothpl.data.folder.decoded import Decoded, decode_all
from smoothpl.data.folder.held_out import is_held_out
from smoothpl.data.folder.label import LABELED, TEST
from smoothpl.data.folder.label_files import is_unicode
from smoothpl.data.folder.scan import Scan, scan_folder
from smoothpl.errors import ConfigError, require
from smoothpl.inference.banked import vectors_of
from smoothpl.inference.classifier import classifier_of
from smoothpl.inference.image_size import image_side
from smoothpl.inference.parts import Parts, read_parts
from smoothpl.inference.suggestions import Look, Suggestion, look_at, look_by, suggest
from smoothpl.io.csv_cells import guarded
from smoothpl.record.trained import trained

SIDE = 192
"""Pixels of the longer side of a picture on the page."""
MOST_BUTTONS = 12
"""Classes that are clicked; more of them are typed."""


class Shown(NamedTuple):
    """A suggestion as it is printed; without a network there is no guess."""

    file: str
    guess: str | None
    confidence: float | None
    why: str
    picture: str = ""  # a data: URL


class Found(NamedTuple):
    scan: Scan
    class_names: tuple[str, ...]
    shown: list[Shown]


def find(run_dir: Path, root: str | None, number: int, trust: bool) -> Found:
    config = trained(run_dir).config
    if "images_digest" not in config["data"]:
        raise ConfigError(
            f"run={run_dir} was not trained on a folder of images (data=folder), so there is nothing to label."
        )
    parts = read_parts(run_dir, trust)
    scan = scan_folder(root or config["data"]["root"], config["data"]["labels"])
    decoded = decode_all(scan.paths, list(scan.digests.values()), image_side(parts.record, run_dir))
    unlabeled = unlabeled_files(scan, decoded)
    require(bool(unlabeled), f"data.root={scan.root}: every image has a label.")
    names = {name: c for c, name in enumerate(parts.record.class_names)}
    labeled = files_that_teach(scan, decoded, names, config["data"].get("folds") or 0, config["fold"])
    look = looking(parts, scan, decoded)
    looks = [look(which) for which in (unlabeled, labeled)]
    labels = torch.tensor([names[scan.label[scan.files[at]]] for at in labeled])
    suggestions = suggest(looks[0], looks[1], labels, config["threshold"] or 0.95, number)
    class_names = tuple(parts.record.class_names)
    shown = [describe(each, scan, scan.files[unlabeled[each.image]], class_names) for each in suggestions]
    return Found(scan, class_names, shown)


def looking(parts: Parts, scan: Scan, decoded: Decoded) -> Callable[[list[int]], Look]:
    """How the network of a run looks at files of a folder, by their numbers. A bank has the vectors of a backbone, or
    will have them next time."""
    if not parts.backbones or parts.is_finetuned:
        classifier = classifier_of(parts)
        return lambda files: look_at(classifier, decoded.images, decoded.row[files])
    backbones = [
        each if isinstance(each, Embeddings) else engine_for(each, parts.engine) for each in parts.backbones.values()
    ]
    views = parts.record.config["views"]
    return lambda files: look_by(parts.network.eval(), vectors_of(scan, decoded, files, backbones, views))


def unlabeled_files(scan: Scan, decoded: Decoded) -> list[int]:
    """Positions of the files without a label; of files with the same content, the first."""
    given = {*scan.label, *scan.test}
    taken = {digest for file, digest in zip(scan.files, decoded.digests, strict=True) if file in given}
    first: dict[str, int] = {}
    for at, (file, digest, row) in enumerate(zip(scan.files, decoded.digests, decoded.row.tolist(), strict=True)):
        # A browser cannot name a file whose name is not Unicode.
        if row >= 0 and digest not in taken and is_unicode(file):
            first.setdefault(digest, at)
    return [*first.values()]


def files_that_teach(scan: Scan, decoded: Decoded, classes: Container[str], folds: int, fold: int) -> list[int]:
    """Positions of the labeled files that a run learns from: not of those that are held out, or test."""
    tests = {digest for file, digest in zip(scan.files, decoded.digests, strict=True) if file in scan.test}
    return [
        at
        for at, (file, digest, row) in enumerate(zip(scan.files, decoded.digests, decoded.row.tolist(), strict=True))
        if file in scan.label
        and scan.label[file] in classes
        and row >= 0
        and digest not in tests
        and not is_held_out(digest, folds, fold)
    ]


def describe(suggestion: Suggestion, scan: Scan, file: str, names: Sequence[str]) -> Shown:
    why, picture = reason(suggestion, names), picture_of(scan.root / file)
    return Shown(file, names[suggestion.guess], suggestion.confidence, why, picture)


def reason(suggestion: Suggestion, names: Sequence[str]) -> str:
    """Why an image is suggested, in words that can stand beside a guess of high confidence."""
    if suggestion.for_class is None:
        return suggestion.why
    rare = names[suggestion.for_class]
    if suggestion.for_class == suggestion.guess:
        return f"worth checking: {rare} is {suggestion.why}"
    return f"or is it {rare}? That is {suggestion.why}"


def picture_of(path: Path) -> str:
    picture = Image.fromarray(decode_safely(path).permute(1, 2, 0).numpy())
    small = max(picture.size) < SIDE
    how = Image.Resampling.NEAREST if small else Image.Resampling.LANCZOS
    scale = SIDE / max(picture.size)
    resized = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))), how)
    data = BytesIO()
    resized.save(data, "PNG" if small else "JPEG")
    kind = "png" if small else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(data.getvalue()).decode()}"


def as_csv(shown: list[Shown]) -> str:
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["file", "label", "guess", "confidence", "why"])
    for each in shown:
        confidence = "" if each.confidence is None else f"{each.confidence:.4f}"
        table.writerow([guarded(each.file), "", guarded(each.guess or ""), confidence, guarded(each.why)])
    return text.getvalue()


def as_page(found: Found) -> str:
    """Includes all labels given by CSV files so far, so that the labels.csv which the page saves can replace them."""
    scan = found.scan
    given = [[file, name, ""] for file, name in scan.label.items() if not file.startswith(f"{LABELED}/")]
    given += [[file, name, TEST] for file, name in scan.test.items() if not file.startswith(f"{TEST}/")]
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    page = environment.get_template("suggestion_page.html.jinja")
    files = [each.file for each in found.shown]
    facts = {"given": given, "files": files, "key": f"smoothpl labels {identity(scan, files)}", "most": MOST_BUTTONS}
    data = json.dumps(facts).replace("<", "\\u003c")
    return page.render(
        shown=found.shown,
        class_names=found.class_names,
        data=data,
        root=scan.root.name,
        has_labels=bool(given),
        most=MOST_BUTTONS,
    )


def identity(scan: Scan, files: list[str]) -> str:
    """Tells a page from others of the same browser: by the folder's name, and the images on it."""
    images = [[file, scan.digests.get(file)] for file in files]
    return hashlib.sha256(json.dumps([scan.root.name, images]).encode()).hexdigest()[:16]
