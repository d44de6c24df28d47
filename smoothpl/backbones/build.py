"""From configuration to backbones, each made once in a process."""

import json
from functools import cache
from typing import Any

import torch
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from smoothpl.backbones.embeddings import Embeddings
from smoothpl.backbones.encoder import Encoder
from smoothpl.errors import require


def build_backbones(backbone: DictConfig) -> list[Encoder | Embeddings]:
    """In the order of the YAML."""
    written: Any = OmegaConf.to_container(backbone, resolve=True)
    return [build_one(json.dumps(each)) for each in written["encoders"].values()]


def build_encoders(backbone: DictConfig) -> list[Encoder]:
    """Those that are networks, as new images need them."""
    found = build_backbones(backbone)
    require(
        not any(isinstance(each, Embeddings) for each in found),
        "backbone=embeddings: vectors were made elsewhere, and no network for other images came with them; use another "
        "backbone, for example backbone=onnx with the network that made them.",
    )
    return [each for each in found if isinstance(each, Encoder)]


def digests_of(backbone: DictConfig) -> dict[str, str]:
    """By their names in the YAML: what the vectors of each depend on."""
    return {name: each.digest for name, each in zip(backbone.encoders, build_backbones(backbone), strict=True)}


@cache
def build_one(written: str) -> Encoder | Embeddings:
    """Made once, so it takes no random numbers of the run: whether it was there already would change its results."""
    with torch.random.fork_rng(devices=[]):
        encoder: Encoder | Embeddings = instantiate(json.loads(written))
    return encoder
