"""ResNet-50 as torchvision has it, with random weights."""

from torch import nn
from torchvision.models import resnet50 as torchvision_resnet50


def resnet50(num_classes: int = 1000, channels: int = 3, norm_momentum: float = 0.1) -> nn.Module:
    network: nn.Module = torchvision_resnet50(weights=None, num_classes=num_classes)
    if channels != 3:
        raise ValueError(
            f"data.channels={channels} must be 3 for net=resnet50, which needs colours; use a WideResNet instead."
        )
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.momentum = norm_momentum
    return network
