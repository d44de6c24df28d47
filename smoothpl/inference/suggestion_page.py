"""Suggestions as files: a CSV, and a page to click labels on."""

import base64
import csv
import hashlib
import json
from collections.abc import Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import NamedTuple

import torch
from jinja2 import Environment, FileSystemLoader
from PIL import Image

from smoothpl.data.decode import decode_safely
from smoothpl.data.folder.decoded import Decoded, decode_all
from smoothpl.data.folder.label import LABELED, TEST
from smoothpl.data.folder.label_files import is_unicode
from smoothpl.data.folder.scan import Scan, scan_folder
from smoothpl.errors import ConfigError, require
from smoothpl.inference.classifier import Classifier, load
from smoothpl.inference.suggestions import Suggestion, look_at, suggest
from smoothpl.io.csv_cells import guarded
from smoothpl.record.trained import trained

SIDE = 192
"""Pixels of the longer side of a picture on the page."""


class Shown(NamedTuple):
    """A suggestion as it is printed."""

    file: str
    guess: str
    confidence: float
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
    classifier = load(run_dir, trust)
    scan = scan_folder(root or config["data"]["root"], config["data"]["labels"])
    decoded = decode_all(scan.paths, list(scan.digests.values()), classifier.prepare.frame.size)
    unlabeled = unlabeled_files(scan, decoded)
    require(bool(unlabeled), f"data.root={scan.root}: every image has a label.")
    names = {name: c for c, name in enumerate(classifier.class_names)}
    row = decoded.row.tolist()
    labeled = [at for at, file in enumerate(scan.files) if scan.label.get(file) in names and row[at] >= 0]
    looks = [look_at(classifier, decoded.images, decoded.row[which]) for which in (unlabeled, labeled)]
    labels = torch.tensor([names[scan.label[scan.files[at]]] for at in labeled])
    suggestions = suggest(looks[0], looks[1], labels, config["threshold"] or 0.95, number)
    shown = [describe(each, scan, scan.files[unlabeled[each.image]], classifier) for each in suggestions]
    return Found(scan, classifier.class_names, shown)


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


def describe(suggestion: Suggestion, scan: Scan, file: str, classifier: Classifier) -> Shown:
    guess = classifier.class_names[suggestion.guess]
    return Shown(
        file, guess, suggestion.confidence, reason(suggestion, classifier.class_names), picture_of(scan.root / file)
    )


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
        table.writerow([guarded(each.file), "", guarded(each.guess), f"{each.confidence:.4f}", guarded(each.why)])
    return text.getvalue()


def as_page(found: Found) -> str:
    """Includes all labels given by CSV files so far, so that the labels.csv which the page saves can replace them."""
    scan = found.scan
    given = [[file, name, ""] for file, name in scan.label.items() if not file.startswith(f"{LABELED}/")]
    given += [[file, name, TEST] for file, name in scan.test.items() if not file.startswith(f"{TEST}/")]
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    page = environment.get_template("suggestion_page.html.jinja")
    files = [each.file for each in found.shown]
    facts = {"given": given, "files": files, "key": f"smoothpl labels {identity(scan, files)}"}
    data = json.dumps(facts).replace("<", "\\u003c")
    return page.render(shown=found.shown, class_names=found.class_names, data=data, root=scan.root.name)


def identity(scan: Scan, files: list[str]) -> str:
    """Tells a page from others of the same browser: by the folder's name, and the images on it."""
    images = [[file, scan.digests.get(file)] for file in files]
    return hashlib.sha256(json.dumps([scan.root.name, images]).encode()).hexdigest()[:16]
