"""python -m smoothpl.suggest: which images to label next, and a page to do it on."""

import base64
import csv
import json
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console

from smoothpl.cli.arguments import flag, read_own_words
from smoothpl.cli.front_door import run_command
from smoothpl.errors import ConfigError, require
from smoothpl.io.atomic import write_text
from smoothpl.io.csv_cells import guarded

if TYPE_CHECKING:
    from smoothpl.data.album import Album

USAGE = """python -m smoothpl.suggest run=DIR [n=20] [out=suggestions]

Which unlabeled images to label next: those that a collapsed or rarely predicted
class may have, and those that the network doubts and has seen nothing like.
  python -m smoothpl.suggest run=outputs/folder/... n=20

Leaves suggestions.csv, a list, and suggestions.html, a page to click labels on,
in any browser, offline. It saves labels.csv: put it into the folder of images,
and go on: python -m smoothpl.train resume=outputs/folder/...

  run=DIR            the directory of a finished run with data=folder
  n=20               how many
  out=suggestions    where to, without .csv or .html
  root=FOLDER        where the images are, if they have moved
  trust=false        true: a network of other code than smoothpl's"""
OWN_WORDS = ("run", "n", "out", "root", "trust")
SIDE = 192
"""Pixels of a picture on the page."""


class Shown(NamedTuple):
    """A suggestion, for people."""

    file: str
    guess: str
    confidence: float
    why: str
    picture: str = ""  # as an address that holds it


def main() -> None:
    words = read_own_words(USAGE, *OWN_WORDS)
    require("run" in words, "run=<directory> is needed; --help shows more.")
    number = words.get("n", "20")
    require(number.isdecimal() and int(number) > 0, f"n={number} must be a positive whole number.")
    out = Path(words.get("out", "suggestions"))
    album, class_names, shown = find(Path(words["run"]), words.get("root"), int(number), flag(words, "trust"))
    write_text(out.with_name(f"{out.name}.csv"), as_csv(shown))
    write_text(out.with_name(f"{out.name}.html"), as_page(album, class_names, shown))
    console = Console()
    for each in shown[:20]:
        console.print(f"{each.file!r}  {each.guess} {each.confidence:.2f}  {each.why}", markup=False, highlight=False)
    for suffix in (".csv", ".html"):
        console.print(f"suggestions: {out}{suffix}", soft_wrap=True, markup=False, highlight=False)


def find(run_dir: Path, root: str | None, number: int, trust: bool) -> "tuple[Album, tuple[str, ...], list[Shown]]":
    import torch

    from smoothpl.classifier import load, trained
    from smoothpl.data.album import open_album
    from smoothpl.data.decoded import decode_all
    from smoothpl.data.label_files import is_unicode
    from smoothpl.suggestions import look_at, suggest

    config = trained(run_dir).config
    if "album" not in config["data"]:
        raise ConfigError(f"run={run_dir} is not about a folder of images (data=folder): there is nothing to label.")
    classifier = load(run_dir, trust)
    album = open_album(root or config["data"]["root"], config["data"]["labels"])
    decoded = decode_all([album.root / file for file in album.files], classifier.prepare.frame.size)
    row = decoded.row.tolist()
    given = {*album.label, *album.test}
    taken = {digest for file, digest in zip(album.files, decoded.digests, strict=True) if file in given}
    first: dict[str, int] = {}  # of each content
    for at, digest in enumerate(decoded.digests):
        # A browser cannot say a name that is not Unicode.
        if row[at] >= 0 and digest not in taken and is_unicode(album.files[at]):
            first.setdefault(digest, at)
    unlabeled = [*first.values()]
    require(bool(unlabeled), f"data.root={album.root}: every image has a label.")
    names = {name: c for c, name in enumerate(classifier.class_names)}
    labeled = [at for at, file in enumerate(album.files) if album.label.get(file) in names and row[at] >= 0]
    looks = [look_at(classifier, decoded.images, decoded.row[which]) for which in (unlabeled, labeled)]
    labels = torch.tensor([names[album.label[album.files[at]]] for at in labeled])
    found = suggest(looks[0], looks[1], labels, config["threshold"] or 0.95, number)
    shown = []
    for each in found:
        file = album.files[unlabeled[each.image]]
        why = each.why if each.for_class is None else f"may be {classifier.class_names[each.for_class]}, {each.why}"
        guess = classifier.class_names[each.guess]
        shown.append(Shown(file, guess, each.confidence, why, picture_of(album.root / file)))
    return album, classifier.class_names, shown


def picture_of(path: Path) -> str:
    from PIL import Image

    from smoothpl.data.pictures import decode_safely

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


def as_page(album: "Album", class_names: tuple[str, ...], shown: list[Shown]) -> str:
    """With the labels that files have given so far, so that the CSV which it saves can take their place."""
    from jinja2 import Environment, FileSystemLoader

    from smoothpl.data.album import LABELED
    from smoothpl.data.label_files import TEST

    given = [[file, name, ""] for file, name in album.label.items() if not file.startswith(f"{LABELED}/")]
    given += [[file, name, TEST] for file, name in album.test.items() if not file.startswith(f"{TEST}/")]
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    page = environment.get_template("suggest.html.jinja")
    data = json.dumps({"given": given, "files": [each.file for each in shown]}).replace("<", "\\u003c")
    return page.render(shown=shown, class_names=class_names, data=data, root=album.root.name)


if __name__ == "__main__":
    run_command(main)
