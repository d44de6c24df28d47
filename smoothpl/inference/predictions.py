"""Predictions of a trained run for many files, as CSV or JSON lines."""

import csv
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO

import numpy as np
import torch
from rich.progress import Progress
from torch import Tensor

from smoothpl.cli.messages import Terminal
from smoothpl.data.folder.walk import images_below
from smoothpl.errors import require
from smoothpl.inference.classifier import Classifier
from smoothpl.inference.preprocessing import Preparation
from smoothpl.io.atomic import create, put
from smoothpl.io.csv_cells import guarded
from smoothpl.io.escapes import Escaping
from smoothpl.io.processes import MOST_AT_A_TIME, in_processes

FORMATS = (".csv", ".jsonl")
MOST_BYTES = 2**22
"""Size of the images that a process hands over together."""


class Format(NamedTuple):
    """How predictions are written, and where to."""

    out: str
    top: int
    probabilities: bool

    @classmethod
    def parse(cls, out: str, top: int, probabilities: bool) -> Self:
        endings = " or ".join(FORMATS)
        require(out == "-" or out.endswith(FORMATS), f"out={out} must end with {endings}, or be - for stdout.")
        return cls(out, top, probabilities)

    @property
    def as_csv(self) -> bool:
        return not self.out.endswith(".jsonl")


def find_files(places: Sequence[str]) -> list[Path]:
    files: list[Path] = []
    for place in places:
        if place in ("-", "-0"):
            separator = "\0" if place == "-0" else "\n"
            names = os.fsdecode(sys.stdin.buffer.read())  # a name need not be UTF-8
            files += [Path(name) for name in names.split(separator) if name]
        elif Path(place).is_dir():
            files += [Path(place) / name for name, _ in images_below(Path(place))]
        else:
            require(Path(place).is_file(), f"images={place} does not exist; name a file, a folder, or - for stdin.")
            files.append(Path(place))
    require(bool(files), f"images={' '.join(places)} names no image.")
    return files


def write(form: Format, classifier: Classifier, files: Sequence[Path]) -> list[str]:
    """Replaces an earlier file only when all is done. -> the files that are not images."""
    bad: list[str] = []
    parts = predict(classifier, files, bad)
    with ExitStack() as stack:
        if form.out == "-":
            if isinstance(sys.stdout, TextIOWrapper):
                sys.stdout.reconfigure(errors="surrogateescape")  # a name need not be UTF-8
            put_rows(form, classifier, parts, Escaping(sys.stdout) if sys.stdout.isatty() else sys.stdout)
            return bad
        out = Path(form.out)
        draft = out.with_name(f".{out.name}.draft")
        stack.callback(draft.unlink, missing_ok=True)
        with open(create(draft), "w", newline="", encoding="utf-8", errors="surrogateescape") as file:
            put_rows(form, classifier, parts, file)
        put(draft, out)
    return bad


def predict(classifier: Classifier, files: Sequence[Path], bad: list[str]) -> Iterator[tuple[list[Path], Tensor]]:
    """Yields some files at a time, in order, with their probabilities (B, C); decodes a few ahead."""
    size, channels = classifier.prepare.frame.size, classifier.prepare.channels
    most = max(1, min(MOST_AT_A_TIME, MOST_BYTES // (channels * size**2)))
    parts = in_processes(partial(prepared, classifier.prepare), files, most)
    console = Terminal(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        shown = progress.add_task("predicting", total=len(files))
        for good, pixels, some_bad in parts:
            yield good, classifier.predict_pixels(torch.from_numpy(pixels)).probabilities
            bad += some_bad
            progress.advance(shown, len(good) + len(some_bad))


def prepared(prepare: Preparation, paths: Sequence[Path]) -> tuple[list[Path], np.ndarray[Any, Any], list[str]]:
    """-> files that are images, their pixels, and names of those that are not."""
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
    form: Format, classifier: Classifier, parts: Iterable[tuple[list[Path], Tensor]], file: TextIO | Escaping
) -> None:
    names = classifier.class_names
    table = csv.writer(file, lineterminator="\n")
    if form.as_csv:
        heads = ["file", "label", "confidence"]
        heads += [f"{what}_{place}" for place in range(2, form.top + 1) for what in ("label", "confidence")]
        heads += [guarded(f"p({name})") for name in names] if form.probabilities else []
        table.writerow(heads)
    for path, top, every in (row for paths, found in parts for row in rows_of(form, names, paths, found)):
        if form.as_csv:
            cells: list[Any] = [guarded(str(path))]
            for name, confidence in top:
                cells += [guarded(name), confidence]
            table.writerow([*cells, *every])
        else:
            line: dict[str, Any] = {"file": str(path), "label": top[0][0], "confidence": top[0][1]}
            line |= {"top": [{"label": name, "confidence": p} for name, p in top]} if form.top > 1 else {}
            line |= {"probabilities": dict(zip(names, every, strict=True))} if every else {}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def rows_of(
    form: Format, names: Sequence[str], paths: list[Path], probabilities: Tensor
) -> Iterator[tuple[Path, list[tuple[str, float]], list[float]]]:
    """For every file the most likely classes, and the probabilities of all classes if they are asked for."""
    best = probabilities.topk(form.top)
    rows = zip(paths, best.values.tolist(), best.indices.tolist(), probabilities.tolist(), strict=True)
    for path, confidence, classes, every in rows:
        top = [(names[c], round(p, 6)) for c, p in zip(classes, confidence, strict=True)]
        yield path, top, [round(p, 6) for p in every] if form.probabilities else []
