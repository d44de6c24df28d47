"""From images to batches: sources, folds, views, steps."""

from smoothpl.data.batches import Batch, RawStep, Steps
from smoothpl.data.cifar import cifar10, cifar100
from smoothpl.data.digits import digits
from smoothpl.data.folder import folder
from smoothpl.data.folds import Fold, balanced, full, given, imbalanced, random
from smoothpl.data.frames import CentralCrop, Frame, RandomResizedCrop
from smoothpl.data.imagenet import imagenet
from smoothpl.data.module import SemiSupervisedData
from smoothpl.data.pictures import Pictures
from smoothpl.data.published import fashion_mnist, stl10, svhn
from smoothpl.data.source import Images, ImageSet, Source
from smoothpl.data.views import Chain, Cutout, Distort, FlipCrop, RandAugment, RandomCutout, Shift, View, Views

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
    "random",
    "stl10",
    "svhn",
]
