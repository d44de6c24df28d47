"""Networks: images in, logits out."""

from smoothpl.nets.resnet import resnet50
from smoothpl.nets.wideresnet import WideResNet

__all__ = ["WideResNet", "resnet50"]
