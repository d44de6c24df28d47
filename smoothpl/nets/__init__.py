"""Networks: images in, logits out; heads: features of a backbone in."""

from smoothpl.nets.heads import CosineHead, LinearHead, MLPHead
from smoothpl.nets.libraries import pretrained
from smoothpl.nets.resnet import resnet50
from smoothpl.nets.wideresnet import WideResNet

__all__ = ["CosineHead", "LinearHead", "MLPHead", "WideResNet", "pretrained", "resnet50"]
