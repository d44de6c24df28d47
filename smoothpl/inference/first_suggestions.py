"""First suggestions, before there is any label: images from the middle of groups that look alike to a backbone."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import torch
from omegaconf import DictConfig
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor
from torch.nn.functional import normalize

from smoothpl.backbones.build import build_encoders
from smoothpl.backbones.engine import engine_for
from smoothpl.config.checks.backbone import check_backbone
from smoothpl.config.compose import compose_config
from smoothpl.config.describe import options
from smoothpl.config.overrides import CommandLine
from smoothpl.config.typed_words import readable
from smoothpl.data.folder.decoded import decode_all
from smoothpl.data.folder.scan import Scan, look_through
from smoothpl.errors import require
from smoothpl.inference.banked import vectors_of
from smoothpl.inference.suggestion_page import Found, Shown, picture_of, unlabeled_files

MANY = 20_000
"""Images: with more of them, groups are found by parts of them at a time."""
SEED = 0
ATTEMPTS = 3
"""Of which the best counts; k-means depends on where it begins."""


class Group(NamedTuple):
    image: int  # the one nearest to its middle
    number: int  # of images


def find_first(root: str, number: int, backbone: str, knobs: Sequence[str] = ()) -> Found:
    """root: a folder of images; labels that it has already are kept, and their images are not suggested."""
    chosen = backbone_of(backbone, knobs)
    scan = look_through(root, knob="images")
    require(len(scan.files) >= number, too_few(scan, len(scan.files), number))
    encoders = build_encoders(chosen)
    decoded = decode_all(scan.paths, list(scan.digests.values()), max(each.size for each in encoders))
    files = unlabeled_files(scan, decoded)
    require(len(files) >= number, too_few(scan, len(files), number))
    engines = [engine_for(encoder, chosen.engine) for encoder in encoders]
    groups = find_groups(vectors_of(scan, decoded, files, engines, views={}), number)
    names = [scan.files[files[each.image]] for each in groups]
    shown = [
        Shown(file, None, None, reason(each), picture_of(scan.root / file))
        for file, each in zip(names, groups, strict=True)
    ]
    return Found(scan, scan.class_names, shown)


def backbone_of(name: str, knobs: Sequence[str] = ()) -> DictConfig:
    """The configuration of one, with settings as one types them: backbone.size=224."""
    known = [each for each in options("backbone") if each != "none"]
    require(name in known, f"backbone={name} must be one of {', '.join(known)}.")
    line = readable(CommandLine.parse([f"backbone={name}", *knobs]))
    config = compose_config(line.words_to_compose)
    check_backbone(config, line.words)
    chosen: DictConfig = config.backbone
    return chosen


def too_few(scan: Scan, found: int, number: int) -> str:
    what = "images" if found == len(scan.files) else "different images without a label that can be read"
    return f"n={number}, but images={scan.root} holds {found} {what}; use a smaller n, or more images."


def reason(group: Group) -> str:
    return "unlike the others" if group.number == 1 else f"stands for {group.number:,} images that look alike"


def find_groups(vectors: Tensor, number: int) -> list[Group]:
    """vectors (N, D): the largest groups first; fewer than `number` where images cannot be told apart."""
    features = directions(vectors)
    make = KMeans if len(features) <= MANY else MiniBatchKMeans
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of images that look the same
        found = make(number, n_init=ATTEMPTS, random_state=SEED).fit(features.numpy())
    group = torch.from_numpy(found.labels_).long()
    middles = torch.from_numpy(found.cluster_centers_)
    distance = (features - middles[group]).norm(dim=1)
    groups = []
    for each in {*group.tolist()}:
        inside = (group == each).nonzero().squeeze(1)
        groups.append(Group(int(inside[distance[inside].argmin()]), len(inside)))
    return sorted(groups, key=lambda each: (-each.number, each.image))


def directions(vectors: Tensor) -> Tensor:
    """Vectors of zero mean and unit deviation, as a head scales them, each of length one: with lengths as they are,
    a few odd images would make up groups of their own."""
    deviation, mean = torch.std_mean(vectors, dim=0, correction=0)
    scale = torch.where(deviation > 0, 1 / deviation.clamp(min=1e-12), 0)  # one that never changes says nothing
    return normalize((vectors - mean) * scale)
