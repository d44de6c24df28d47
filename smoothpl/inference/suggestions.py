"""Suggestions: which unlabeled images to label next. First likely examples of classes that the network rarely predicts
with confidence, then images that it is unsure about and that are unlike all labeled ones."""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from smoothpl.inference.classifier import Classifier
from smoothpl.inference.joined import CHUNK, Joined
from smoothpl.nets.several import heads_of

RARE = 0.2
"""A class is poorly covered when it has less than this part of its share of the confident predictions."""
AT_A_TIME = 1024
DOUBTFUL = "unsure, and unlike the labeled images"
UNLIKE = "unlike the labeled images"
POORLY_COVERED = "a class that the model finds in few images"


class Suggestion(NamedTuple):
    image: int  # which of the unlabeled ones
    guess: int
    confidence: float
    why: str
    for_class: int | None = None  # the poorly covered class that it may show


class Look(NamedTuple):
    """What the network computes for images: probabilities (N, C), features (N, D) before its last layer."""

    probabilities: Tensor
    features: Tensor

    @property
    def doubt(self) -> Tensor:
        """(N,) from 0 (sure) to 1 (no idea): entropy over its largest value."""
        entropy: Tensor = torch.special.entr(self.probabilities).sum(dim=1)
        return entropy / math.log(self.probabilities.shape[1])


def look_at(classifier: Classifier, images: Tensor, rows: Tensor) -> Look:
    """Runs the network on some rows of `images`, which may be on disk, a few at a time."""
    network = classifier.network
    if isinstance(network, Joined):
        return look_by(network.head, torch.cat([network.vectors(images[some]) for some in torch.split(rows, CHUNK)]))
    seen: list[Tensor] = []
    layers = [part for part in classifier.network.modules() if isinstance(part, nn.Linear)]
    if layers:
        handle = layers[-1].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].flatten(1).cpu()))
    else:  # a network without a linear layer has its logits as features
        handle = classifier.network.register_forward_hook(lambda _, __, logits: seen.append(logits.cpu()))
    try:
        found, features = [], []
        for some in torch.split(rows, AT_A_TIME):
            found.append(classifier.predict_pixels(images[some]).probabilities)
            features.append(torch.cat(seen)[: len(some)])
            seen.clear()
    finally:
        handle.remove()
    return Look(torch.cat(found), torch.cat(features))


@torch.inference_mode()
def look_by(head: nn.Module, vectors: Tensor) -> Look:
    """At images by the vectors of their backbones (N, D)."""
    parts = torch.split(vectors, AT_A_TIME)
    probabilities = [head(part).softmax(dim=1) for part in parts]
    return Look(torch.cat(probabilities), torch.cat([standardised(head, part) for part in parts]))


def standardised(head: nn.Module, vectors: Tensor) -> Tensor:
    """What distances are measured in: vectors (B, D) as the heads scale them."""
    heads = heads_of(head)
    if not heads:  # of somebody's own
        return vectors
    parts = torch.split(vectors, [each.dim for each in heads], dim=1)
    return torch.cat([each.standardised(part) for each, part in zip(heads, parts, strict=True)], dim=1)


def suggest(unlabeled: Look, labeled: Look, labels: Tensor, threshold: float, number: int) -> list[Suggestion]:
    """`labels` (L,) are those of the labeled images that were learned from. At most half of the suggestions are for
    poorly covered classes."""
    number = min(number, len(unlabeled.probabilities))
    confidence, guess = unlabeled.probabilities.max(dim=1)
    chosen: dict[int, int | None] = {}
    poor = poorly_covered(unlabeled, labels, threshold)
    for c in poor:
        likely = unlabeled.probabilities[:, c].clone()
        likely[list(chosen)] = -1
        each = min(max(1, number // (2 * len(poor))), number // 2 - len(chosen))
        for image in likely.topk(each).indices.tolist():
            chosen[image] = c
    # Doubtful, and with features far from those of every labeled or chosen image.
    known = torch.cat([labeled.features, unlabeled.features[list(chosen)]])
    far = nearest(unlabeled.features, known)
    far[list(chosen)] = -1
    while len(chosen) < number:
        worth = far * (unlabeled.doubt + 1e-6)
        worth[list(chosen)] = -1
        image = int(worth.argmax())
        chosen[image] = None
        far = torch.minimum(far, nearest(unlabeled.features, unlabeled.features[image : image + 1]))
    doubtful = {image: UNLIKE if confidence[image] > threshold else DOUBTFUL for image in chosen}
    return [
        Suggestion(
            image, int(guess[image]), float(confidence[image]), doubtful[image] if c is None else POORLY_COVERED, c
        )
        for image, c in chosen.items()
    ]


def poorly_covered(unlabeled: Look, labels: Tensor, threshold: float) -> list[int]:
    """Classes whose share of confident predictions is far below their share of the labels, the worst first."""
    num_classes = unlabeled.probabilities.shape[1]
    confidence, guess = unlabeled.probabilities.max(dim=1)
    sure = torch.bincount(guess[confidence > threshold], minlength=num_classes).double()
    if not sure.sum():
        return []
    share = (sure / sure.sum()) / (torch.bincount(labels, minlength=num_classes) / len(labels)).clamp(min=1e-9)
    return [c for c in share.argsort(stable=True).tolist() if share[c] < RARE]


def nearest(features: Tensor, others: Tensor) -> Tensor:
    """(N,): the distance of each to the nearest of `others` (M, D), by parts: memory does not grow with N times M."""
    return torch.cat([torch.cdist(part, others).amin(dim=1) for part in torch.split(features, AT_A_TIME)])
