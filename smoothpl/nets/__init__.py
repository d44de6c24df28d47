"""Networks: images in, logits out."""

from smoothpl.nets.pretrained import timm_network, torchvision_network
from smoothpl.nets.resnet import resnet50
from smoothpl.nets.wideresnet import WideResNet

__all__ = ["WideResNet", "resnet50", "timm_network", "torchvision_network"]
