"""Which unlabeled images are worth a label most: first of classes that the network has given up, then what it is unsure
of and has seen nothing like."""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from smoothpl.classifier import Classifier

RARE = 0.2
"""A class is poorly covered when it has less than this part of its share of the confident predictions."""


AT_A_TIME = 1024
DOUBTFUL = "doubtful, and unlike what has a label"
IN_NEED = "which is all but never predicted with confidence"


class Suggestion(NamedTuple):
    image: int  # which of the unlabeled ones
    guess: int
    confidence: float
    why: str
    for_class: int | None = None  # the one in need that it may show


class Look(NamedTuple):
    """What the network makes of images: probabilities (N, C), features (N, D) before its last layer."""

    probabilities: Tensor
    features: Tensor

    @property
    def doubt(self) -> Tensor:
        """(N,) from 0, sure, to 1, no idea: entropy over its largest value."""
        entropy: Tensor = torch.special.entr(self.probabilities).sum(dim=1)
        return entropy / math.log(self.probabilities.shape[1])


def look_at(classifier: Classifier, images: Tensor, rows: Tensor) -> Look:
    """At some rows of images that are on disk, a few at a time."""
    seen: list[Tensor] = []
    layers = [part for part in classifier.network.modules() if isinstance(part, nn.Linear)]
    if layers:
        handle = layers[-1].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].flatten(1).cpu()))
    else:  # of a network that ends otherwise, all that is known is what it says
        handle = classifier.network.register_forward_hook(lambda _, __, logits: seen.append(logits.cpu()))
    try:
        found, features = [], []
        for some in torch.split(rows, AT_A_TIME):
            found.append(classifier.of_pixels(images[some]).probabilities)
            features.append(torch.cat(seen)[: len(some)])
            seen.clear()
    finally:
        handle.remove()
    return Look(torch.cat(found), torch.cat(features))


def suggest(unlabeled: Look, labeled: Look, labels: Tensor, threshold: float, number: int) -> list[Suggestion]:
    """`labels` (L,) of the labeled images: half of the suggestions at most are for classes that are in need."""
    number = min(number, len(unlabeled.probabilities))
    confidence, guess = unlabeled.probabilities.max(dim=1)
    chosen: dict[int, int | None] = {}
    needy = in_need(unlabeled, labels, threshold)
    for c in needy:
        likely = unlabeled.probabilities[:, c].clone()
        likely[list(chosen)] = -1
        each = min(max(1, number // (2 * len(needy))), number // 2 - len(chosen))
        for image in likely.topk(each).indices.tolist():
            chosen[image] = c
    # Far from everything that has a label or was just chosen, in the eyes of the network, and doubtful.
    known = torch.cat([labeled.features, unlabeled.features[list(chosen)]])
    far = nearest(unlabeled.features, known)
    far[list(chosen)] = -1
    while len(chosen) < number:
        worth = far * (unlabeled.doubt + 1e-6)
        worth[list(chosen)] = -1
        image = int(worth.argmax())
        chosen[image] = None
        far = torch.minimum(far, nearest(unlabeled.features, unlabeled.features[image : image + 1]))
    return [
        Suggestion(image, int(guess[image]), float(confidence[image]), DOUBTFUL if c is None else IN_NEED, c)
        for image, c in chosen.items()
    ]


def in_need(unlabeled: Look, labels: Tensor, threshold: float) -> list[int]:
    """Classes whose share of confident predictions is far below their share of the labels; the worst first."""
    num_classes = unlabeled.probabilities.shape[1]
    confidence, guess = unlabeled.probabilities.max(dim=1)
    sure = torch.bincount(guess[confidence > threshold], minlength=num_classes).double()
    if not sure.sum():
        return []
    share = (sure / sure.sum()) / (torch.bincount(labels, minlength=num_classes) / len(labels)).clamp(min=1e-9)
    return [c for c in share.argsort(stable=True).tolist() if share[c] < RARE]


def nearest(features: Tensor, others: Tensor) -> Tensor:
    """(N,) the distance of each to the nearest of others, a few rows at a time: memory does not grow with N times M."""
    return torch.cat([torch.cdist(part, others).amin(dim=1) for part in torch.split(features, AT_A_TIME)])
