"""From images to batches: sources, folds, views, steps."""

from smoothpl.data.batches import Batch, RawStep, Steps
from smoothpl.data.digits import digits
from smoothpl.data.folds import Fold, balanced
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
    "digits",
]
