"""Error and confusion: what a confusion matrix says of a classifier. Rows are true classes, columns predictions."""

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


def predicted_share(confusion: Tensor) -> Tensor:
    """(C,) how often a class is predicted, as a part of its share: column sums of the row-normalised matrix.

    A class without images has no share; 1 says that nothing is wrong with it as far as anybody can see.
    """
    images = confusion.sum(dim=1, keepdim=True)
    share = torch.nan_to_num(confusion / images).sum(dim=0)
    return torch.where(images.squeeze(1) > 0, share, 1.0)


def collapsed_classes(confusion: Tensor, floor: float = COLLAPSED_BELOW) -> list[int]:
    """Classes that the network has all but stopped predicting."""
    return (predicted_share(confusion) < floor).nonzero().squeeze(1).tolist()
