"""Networks: images in, logits out."""

from smoothpl.nets.libraries import pretrained
from smoothpl.nets.resnet import resnet50
from smoothpl.nets.wideresnet import WideResNet

__all__ = ["WideResNet", "pretrained", "resnet50"]
