"""Pseudo-labels: what the network believes of unlabeled images, and how firmly."""

from typing import NamedTuple

from torch import Tensor


class PseudoLabels(NamedTuple):
    """label (U,) int64 and confidence (U,) float32: the dominant class and sigma, its score."""

    label: Tensor
    confidence: Tensor


def pseudo_labels(logits: Tensor) -> PseudoLabels:
    """logits (U, C) of the weak view -> pseudo-labels. The paper's stop-gradient on them, sg, is here."""
    # float32 whatever the training precision: bfloat16 cannot tell 0.949 from 0.951.
    confidence, label = logits.detach().float().softmax(dim=1).max(dim=1)
    return PseudoLabels(label, confidence)
