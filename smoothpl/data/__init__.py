"""From images to batches: sources, folds, views, steps."""

from smoothpl.data.batches import Batch, RawStep, Steps
from smoothpl.data.cifar import cifar10
from smoothpl.data.digits import digits
from smoothpl.data.folds import Fold, balanced, imbalanced, random
from smoothpl.data.module import SemiSupervisedData
from smoothpl.data.source import ImageSet, Source
from smoothpl.data.views import Distort, Shift, View, Views

__all__ = [
    "Batch",
    "Distort",
    "Fold",
    "ImageSet",
    "RawStep",
    "SemiSupervisedData",
    "Shift",
    "Source",
    "Steps",
    "View",
    "Views",
    "balanced",
    "cifar10",
    "digits",
    "imbalanced",
    "random",
]
