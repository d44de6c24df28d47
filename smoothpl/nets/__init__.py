"""Networks: images in, logits out."""

from smoothpl.nets.wideresnet import WideResNet

__all__ = ["WideResNet"]
