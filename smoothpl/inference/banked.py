"""Vectors of a folder's images from the bank of features: what training has made is not made again."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from smoothpl.backbones.embeddings import Embeddings
from smoothpl.backbones.engine import Engine
from smoothpl.data.features.bank import Bank
from smoothpl.data.features.contents import contents_of
from smoothpl.data.features.looks import Look
from smoothpl.data.features.source import PLAIN
from smoothpl.data.folder.decoded import Decoded, Rows
from smoothpl.data.folder.scan import Scan

AS_DECODED = Look(PLAIN, 0, None, None, None)
"""Images of a folder are of one size already: no frame cuts anything out."""


def vectors_of(
    scan: Scan,
    decoded: Decoded,
    files: Sequence[int],
    backbones: Sequence[Engine | Embeddings],
    views: Mapping[str, Any],
) -> Tensor:
    """Of some files of a folder, by their numbers -> (N, D) float32, of all backbones side by side.

    views: those of the run, or of the run to come, by which its bank knows how images are tested.
    """
    digests, names = [decoded.digests[file] for file in files], [scan.files[file] for file in files]
    images = Rows(decoded.images, decoded.row[list(files)], torch.zeros(len(files)), digests)
    found = [
        each.of(names) if isinstance(each, Embeddings) else stored(Bank(each, {PLAIN: recipe(views)}), images)
        for each in backbones
    ]
    return torch.cat(found, dim=1)


def stored(bank: Bank, images: Rows) -> Tensor:
    """Vectors of images, which are made where they are missing."""
    contents = contents_of(images, None)
    bank.ensure(images, contents, [AS_DECODED])
    column = bank.column(AS_DECODED)
    return column.open()[torch.from_numpy(column.rows_of(contents))].float()


def recipe(views: Mapping[str, Any]) -> str:
    """As `run.build` describes the images that test a run."""
    return json.dumps([views.get("test_frame")], sort_keys=True)
