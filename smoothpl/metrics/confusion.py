"""Error, accuracy and collapse from a confusion matrix. Rows are true classes, columns predictions."""

import torch
from torch import Tensor

from smoothpl.metrics.collapse import COLLAPSED_BELOW


def error_rate(confusion: Tensor) -> float:
    """confusion (C, C) counts -> percentage of wrong predictions."""
    total = int(confusion.sum())
    return 100 * (total - int(confusion.trace())) / total


def class_accuracy(confusion: Tensor) -> Tensor:
    """confusion (C, C) counts -> percentage of each class that is recognised, (C,); NaN for a class without images."""
    return 100 * confusion.diagonal() / confusion.sum(dim=1)


def balanced_error(confusion: Tensor) -> float:
    """confusion (C, C) counts -> mean of the classes' errors, %: every class counts alike, however many images of
    it are tested. A class without images does not count."""
    return 100 - class_accuracy(confusion).nanmean().item()


def predicted_share(confusion: Tensor) -> Tensor:
    """confusion (C, C) counts -> predictions of each class as a fraction of its fair share, (C,): column sums of the
    row-normalised matrix. A class without images has no share; it gets 1, so that it never counts as collapsed."""
    images = confusion.sum(dim=1, keepdim=True)
    share = torch.nan_to_num(confusion / images).sum(dim=0)
    return torch.where(images.squeeze(1) > 0, share, 1.0)


def share_of_expected(predicted: Tensor, expected: Tensor) -> Tensor:
    """predicted, expected (C,) counts -> predictions of each class as a fraction of its fair share, (C,), which is its
    share of what was expected. A class that was not expected gets 1, so that it never counts as collapsed."""
    share = (predicted / predicted.sum()) / (expected / expected.sum())
    return torch.where(expected > 0, share, 1.0)


def collapsed_classes(confusion: Tensor, floor: float = COLLAPSED_BELOW) -> list[int]:
    """Classes that are predicted for less than `floor` of their fair share."""
    return (predicted_share(confusion) < floor).nonzero().squeeze(1).tolist()
