"""From images to batches: sources, folds, views, steps."""

from importlib import import_module
from typing import TYPE_CHECKING

from smoothpl.data.batch import Batch, RawStep
from smoothpl.data.batches import Steps
from smoothpl.data.folder.source import folder
from smoothpl.data.folds import Fold, balanced, full, given, imbalanced, random
from smoothpl.data.frames import CentralCrop, Frame, RandomResizedCrop
from smoothpl.data.open_set import OpenSet
from smoothpl.data.pictures import Pictures
from smoothpl.data.sets.cifar import cifar10, cifar100
from smoothpl.data.sets.digits import digits
from smoothpl.data.sets.imagenet import imagenet
from smoothpl.data.sets.published import fashion_mnist, stl10, svhn
from smoothpl.data.source import Images, ImageSet, Source
from smoothpl.data.tails import long_tailed
from smoothpl.data.views import Chain, Cutout, Distort, FlipCrop, RandAugment, RandomCutout, Shift, View, Views

if TYPE_CHECKING:
    from smoothpl.data.module import SemiSupervisedData

__all__ = [
    "Batch",
    "CentralCrop",
    "Chain",
    "Cutout",
    "Distort",
    "FlipCrop",
    "Fold",
    "Frame",
    "ImageSet",
    "Images",
    "OpenSet",
    "Pictures",
    "RandAugment",
    "RandomCutout",
    "RandomResizedCrop",
    "RawStep",
    "SemiSupervisedData",
    "Shift",
    "Source",
    "Steps",
    "View",
    "Views",
    "balanced",
    "cifar10",
    "cifar100",
    "digits",
    "fashion_mnist",
    "folder",
    "full",
    "given",
    "imagenet",
    "imbalanced",
    "long_tailed",
    "random",
    "stl10",
    "svhn",
]


def __getattr__(name: str) -> object:
    """Imports the one part that needs Lightning when it is asked for: a trained network is used without it."""
    if name == "SemiSupervisedData":
        return import_module("smoothpl.data.module").SemiSupervisedData
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
