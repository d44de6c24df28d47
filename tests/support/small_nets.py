"""Small networks of timm and torchvision that end in vectors, the same in every process."""

from collections.abc import Callable
from typing import Any

import torch
from timm.models.resnet import BasicBlock, ResNet
from timm.models.vision_transformer import VisionTransformer
from torch import nn
from torchvision.models import mobilenet_v2
from torchvision.models.vision_transformer import VisionTransformer as TorchvisionTransformer

from smoothpl.backbones import Encoder

SIDE = 16


def resnet() -> nn.Module:
    block: Any = BasicBlock
    return ResNet(block, (1, 2, 1, 1), num_classes=0, stem_width=8, channels=(8, 8, 16, 16))


def transformer() -> nn.Module:
    return VisionTransformer(img_size=SIDE, patch_size=8, embed_dim=24, depth=3, num_heads=2, num_classes=0)


def mobilenet() -> nn.Module:
    network: nn.Module = mobilenet_v2(
        width_mult=0.25, inverted_residual_setting=[[1, 16, 1, 1], [4, 24, 2, 2], [4, 32, 1, 2]]
    )
    network.classifier = nn.Identity()
    return network


def torchvision_transformer() -> nn.Module:
    dims = {"patch_size": 8, "num_layers": 2, "num_heads": 2, "hidden_dim": 24, "mlp_dim": 32}
    network: nn.Module = TorchvisionTransformer(SIDE, **dims)
    network.heads = nn.Identity()
    return network


KINDS: dict[str, Callable[[], nn.Module]] = {
    each.__name__: each for each in (resnet, transformer, mobilenet, torchvision_transformer)
}


def small(kind: str) -> nn.Module:
    """Statistics of BatchNorm are set as if it had seen images."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = KINDS[kind]()
        for module in network.modules():
            if isinstance(module, nn.BatchNorm2d):
                assert module.running_mean is not None
                assert module.running_var is not None
                nn.init.normal_(module.running_mean, std=0.1)
                nn.init.uniform_(module.running_var, 0.5, 1.5)
    return network.eval()


def encoder(kind: str, size: int = SIDE) -> Encoder:
    """For `backbone.encoders`: small, and without a file."""
    return Encoder(small(kind), kind, kind, size, 1.0, (0.5, 0.4, 0.3), (0.2, 0.3, 0.4))
