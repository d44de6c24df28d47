"""Vectors that were made elsewhere, one per image, with the list of files that they belong to."""

import csv
import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from smoothpl.backbones.encoder import digest_of_files
from smoothpl.backbones.vector_files import FILE, READERS, VectorFile
from smoothpl.cli.messages import counted, first_few
from smoothpl.errors import ConfigError, require


class Embeddings:
    """A table in place of a network: the vector of an image is looked up by the name of its file."""

    name = "embeddings"

    def __init__(self, path: str | None, files: str | None = None) -> None:
        """path: .npy, .safetensors or .parquet; files: a list of names in the same order, as a text of lines, a list in
        JSON, or the column `file` of a .csv. A .parquet may have that column itself."""
        if path is None:
            raise ConfigError("backbone.path=null must be a file of vectors: backbone.path=vectors.npy.")
        place = found(path, "path")
        require(place.suffix in READERS, f"backbone.path={path} must be a file of vectors: {', '.join(READERS)}.")
        self.what = f"backbone.path={path}"
        vectors = READERS[place.suffix](place, self.what)
        self.check_vectors(vectors)
        names = listed(vectors, files, self.what)
        require(
            len(names) == vectors.dims[0],
            f"{self.what} holds {vectors.dims[0]:,} vectors, but {len(names):,} files are listed (backbone.files="
            f"{files}); both must have the same order and number.",
        )
        self.rows, self.dim, self.size = vectors.rows, vectors.dims[1], len(names)
        self.numbers = numbered(names, self.what)
        places = [place, *([] if files is None else [Path(files).expanduser()])]
        self.digest = digest_of_files(places)

    def check_vectors(self, vectors: VectorFile) -> None:
        if len(vectors.dims) != 2 or 0 in vectors.dims:
            raise ConfigError(
                f"{self.what} must hold one vector per image, dims (images, length); it is {vectors.dims}: bring it to "
                "these dims, for example by the mean over all others."
            )
        require(vectors.is_floating, f"{self.what} must hold floating-point numbers, and it does not; convert it.")

    def __len__(self) -> int:
        return self.size

    def of(self, names: Sequence[str]) -> Tensor:
        """The vectors of images, (N, dim) float32, in the order of `names`."""
        plain = [as_written(name) for name in names]
        if missing := [name for name in plain if name not in self.numbers]:
            raise ConfigError(
                f"{self.what} has no vector for {len(missing):,} of {len(names):,} images ({first_few(missing)}); it "
                f"has those of {first_few(list(self.numbers))}: make the others, or name files as they are named here."
            )
        vectors = self.rows(np.array([self.numbers[name] for name in plain], dtype=np.int64)).float()
        if not bool(torch.isfinite(vectors).all()):
            wrong = [
                name for name, row in zip(plain, torch.isfinite(vectors).all(dim=1).tolist(), strict=True) if not row
            ]
            raise ConfigError(
                f"{self.what} has vectors that are not finite for {len(wrong):,} of {len(names):,} images "
                f"({first_few(wrong)}); make them again, or leave these images out."
            )
        return vectors


def found(path: str, knob: str) -> Path:
    place = Path(path).expanduser()
    require(place.is_file(), f"backbone.{knob}={path} is not there; name a file.")
    return place


def listed(vectors: VectorFile, files: str | None, what: str) -> list[str]:
    """The names of images, in the order of vectors."""
    if vectors.files is not None:
        require(
            files is None, f"backbone.files={files} has no effect: {what} has a column {FILE}; leave one of them out."
        )
        return vectors.files
    if files is None:
        raise ConfigError(
            f"backbone.files=null: {what} does not say which images its vectors belong to; name a list of files in the "
            "same order (a text of lines, a list in .json, or a .csv with a column file)."
        )
    place = found(files, "files")
    try:
        text = place.read_text(encoding="utf-8-sig")
        if place.suffix == ".csv":
            names = [row[FILE] for row in csv.DictReader(StringIO(text))]
        else:
            names = json.loads(text) if place.suffix == ".json" else list(filter(str.strip, text.splitlines()))
    except (ValueError, KeyError) as error:
        raise ConfigError(
            f"backbone.files={files} is not a list of files that can be read ({error!r}); write it as a text of lines, "
            f"a list in .json, or a .csv with a column {FILE}."
        ) from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigError(f'backbone.files={files} must be a list of names; write it as ["a.png", ...].')
    return names


def as_written(name: str) -> str:
    """./a\\b.png is a/b.png, whatever wrote the list."""
    return name.strip().replace("\\", "/").removeprefix("./")


def numbered(names: Sequence[str], what: str) -> dict[str, int]:
    plain = [as_written(name) for name in names]
    numbers = {name: number for number, name in enumerate(plain)}
    if len(numbers) != len(plain):
        twice = sorted(name for number, name in enumerate(plain) if numbers[name] != number)
        raise ConfigError(
            f"{what}: {counted(len(twice), 'file is', 'files are')} listed twice ({first_few(twice)}); leave out all "
            "but one vector per image."
        )
    return numbers
