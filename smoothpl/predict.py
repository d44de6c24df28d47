"""python -m smoothpl.predict: what a trained run says of other images."""

import csv
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from rich.console import Console
from rich.progress import Progress

from smoothpl.cli.arguments import flag, read_own_words
from smoothpl.cli.front_door import run_command
from smoothpl.cli.messages import remark, some
from smoothpl.errors import ConfigError, require
from smoothpl.io.atomic import put
from smoothpl.io.csv_cells import guarded

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from smoothpl.classifier import Classifier, Preparation

USAGE = """python -m smoothpl.predict run=DIR images=PLACE... [out=predictions.csv]

What the network of a finished run says of images:
  python -m smoothpl.predict run=outputs/... images=photos out=predictions.csv
  find . -name '*.jpg' | python -m smoothpl.predict run=outputs/... images=-

  run=DIR                the directory of a finished run
  images=PLACE           a file, or a folder with all below it; may be repeated;
                         - reads names from stdin, a line each; -0 with a zero
                         byte after each
  out=predictions.csv    .csv or .jsonl; - is stdout, as CSV
  top=1                  how many classes of every image, the likeliest first
  probabilities=false    true: of all classes
  trust=false            true: a network of other code than smoothpl's

What is no image is named, and left out."""
OWN_WORDS = ("run", "images", "out", "top", "probabilities", "trust")
FORMATS = (".csv", ".jsonl")


MOST_BYTES = 2**22
"""Of images that are handed over together."""


class Wanted(NamedTuple):
    out: str
    top: int
    probabilities: bool

    @property
    def as_csv(self) -> bool:
        return not self.out.endswith(".jsonl")


def main() -> None:
    places = [each.partition("=")[2] for each in sys.argv[1:] if each.startswith("images=")]
    words = read_own_words(USAGE, *OWN_WORDS)
    require("run" in words and bool(places), "run=<directory> and images=<place> are needed; --help shows more.")
    wanted = read_wanted(words)
    files = find_files(places)
    from smoothpl.classifier import load

    classifier = load(words["run"], trust=flag(words, "trust"))
    require(
        wanted.top <= len(classifier.class_names),
        f"top={wanted.top}, but there are {len(classifier.class_names)} classes.",
    )
    bad = write(wanted, classifier, files)
    if bad:
        names = some(list(map(repr, bad)))
        remark(f"{len(bad)} of {len(files):,} files are no images that can be read, and are left out: {names}")
    if len(bad) == len(files):
        raise ConfigError("none of them is an image; nothing was predicted.")
    if wanted.out != "-":
        remark(f"predictions: {wanted.out}")


def read_wanted(words: dict[str, str]) -> Wanted:
    out, top = words.get("out", "predictions.csv"), words.get("top", "1")
    require(out == "-" or out.endswith(FORMATS), f"out={out} must end with {' or '.join(FORMATS)}, or be - for stdout.")
    require(top.isdecimal() and int(top) > 0, f"top={top} must be a positive whole number.")
    return Wanted(out, int(top), flag(words, "probabilities"))


def find_files(places: Sequence[str]) -> list[Path]:
    from smoothpl.data.album import images_below

    files: list[Path] = []
    for place in places:
        if place in ("-", "-0"):
            separator = "\0" if place == "-0" else "\n"
            names = os.fsdecode(sys.stdin.buffer.read())  # a name need not be UTF-8
            files += [Path(name) for name in names.split(separator) if name]
        elif Path(place).is_dir():
            files += [Path(place) / name for name in sorted(images_below(Path(place)))]
        else:
            require(Path(place).is_file(), f"images={place} is not there; name a file, a folder, or - for stdin.")
            files.append(Path(place))
    require(bool(files), f"images={' '.join(places)} holds no image.")
    return files


def write(wanted: Wanted, classifier: "Classifier", files: Sequence[Path]) -> list[str]:
    """A file that was there before is replaced when all is done. -> what is no image."""
    bad: list[str] = []
    parts = predict(classifier, files, bad)
    with ExitStack() as stack:
        if wanted.out == "-":
            if isinstance(sys.stdout, TextIOWrapper):
                sys.stdout.reconfigure(errors="surrogateescape")  # a name need not be UTF-8
            put_rows(wanted, classifier, parts, sys.stdout)
            return bad
        out = Path(wanted.out)
        draft = out.with_name(f".{out.name}.draft")
        stack.callback(draft.unlink, missing_ok=True)
        with draft.open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
            put_rows(wanted, classifier, parts, file)
        put(draft, out)
    return bad


def predict(classifier: "Classifier", files: Sequence[Path], bad: list[str]) -> Iterator[tuple[list[Path], "Tensor"]]:
    """Some files at a time, in order, with their probabilities (B, C); a few are decoded ahead."""
    import torch

    from smoothpl.io.processes import MOST_AT_A_TIME, in_processes

    size, channels = classifier.prepare.frame.size, classifier.prepare.channels
    most = max(1, min(MOST_AT_A_TIME, MOST_BYTES // (channels * size**2)))
    parts = in_processes(partial(prepared, classifier.prepare), files, most)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        shown = progress.add_task("predicting", total=len(files))
        for good, pixels, some_bad in parts:
            yield good, classifier.of_pixels(torch.from_numpy(pixels)).probabilities
            bad += some_bad
            progress.advance(shown, len(good) + len(some_bad))


def prepared(prepare: "Preparation", paths: Sequence[Path]) -> "tuple[list[Path], np.ndarray[Any, Any], list[str]]":
    """Which of the files are images, these, and which are none."""
    import numpy as np

    size = prepare.frame.size
    pixels = np.empty((len(paths), prepare.channels, size, size), dtype=np.uint8)
    good, bad = list[Path](), list[str]()
    for path in paths:
        try:
            pixels[len(good)] = prepare(path).numpy()
            good.append(path)
        except (ValueError, OSError):
            bad.append(str(path))
    return good, pixels[: len(good)], bad


def put_rows(
    wanted: Wanted, classifier: "Classifier", parts: Iterable[tuple[list[Path], "Tensor"]], file: TextIO
) -> None:
    names = classifier.class_names
    table = csv.writer(file, lineterminator="\n")
    if wanted.as_csv:
        heads = ["file", "label", "confidence"]
        heads += [f"{what}_{place}" for place in range(2, wanted.top + 1) for what in ("label", "confidence")]
        heads += [guarded(f"p({name})") for name in names] if wanted.probabilities else []
        table.writerow(heads)
    for path, top, every in (row for paths, found in parts for row in rows_of(wanted, names, paths, found)):
        if wanted.as_csv:
            cells: list[Any] = [guarded(str(path))]
            for name, confidence in top:
                cells += [guarded(name), confidence]
            table.writerow([*cells, *every])
        else:
            line: dict[str, Any] = {"file": str(path), "label": top[0][0], "confidence": top[0][1]}
            line |= {"top": [{"label": name, "confidence": p} for name, p in top]} if wanted.top > 1 else {}
            line |= {"probabilities": dict(zip(names, every, strict=True))} if every else {}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def rows_of(
    wanted: Wanted, names: Sequence[str], paths: list[Path], probabilities: "Tensor"
) -> Iterator[tuple[Path, list[tuple[str, float]], list[float]]]:
    """Of every file the likeliest classes, and the probabilities of all of them where they are wanted."""
    best = probabilities.topk(wanted.top)
    rows = zip(paths, best.values.tolist(), best.indices.tolist(), probabilities.tolist(), strict=True)
    for path, confidence, classes, every in rows:
        top = [(names[c], round(p, 6)) for c, p in zip(classes, confidence, strict=True)]
        yield path, top, [round(p, 6) for p in every] if wanted.probabilities else []


if __name__ == "__main__":
    run_command(main)
