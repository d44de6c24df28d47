"""Network: the WideResNet of the field, in its two published readings."""

import math
from itertools import pairwise
from typing import Literal, get_args

from torch import Tensor, nn

from smoothpl.nets.last_map import GlobalMean
from smoothpl.nets.libraries import take
from smoothpl.nets.weight_files import read_weights

Variant = Literal["torchssl", "google"]
DEEPEST = 10_000


class WideResNet(nn.Module):
    """A pre-activation residual network of three stages, `depth` layers deep and `width` times as wide as the original.

    `variant` says what the first block of stages two and three does, where the channels change:
    - torchssl: it convolves its raw input. Its first BatchNorm is built and never used (the code the paper ran on;
      USB and kekmodel inherit it). Kept, frozen, so that parameter counts and checkpoints agree.
    - google: it convolves the normalised, activated input, as the residual network was designed.
    """

    def __init__(
        self,
        num_classes: int,
        channels: int = 3,
        depth: int = 28,
        width: int = 2,
        variant: Variant = "torchssl",
        norm_momentum: float = 0.001,
        init_from: str | None = None,
    ) -> None:
        super().__init__()
        check_settings(depth, width, variant)
        num_blocks = (depth - 4) // 6
        extents = [16, 16 * width, 32 * width, 64 * width]
        stages = []
        for stage, (before, after) in enumerate(pairwise(extents)):
            for block in range(num_blocks):
                first = block == 0
                stages.append(
                    ResidualBlock(
                        before if first else after,
                        after,
                        stride=2 if first and stage > 0 else 1,
                        # The stem has no activation of its own: the very first block activates for both its branches.
                        activate_shortcut=first and stage == 0,
                        variant=variant,
                        norm_momentum=norm_momentum,
                    )
                )
        self.stem = nn.Conv2d(channels, extents[0], kernel_size=3, padding=1)
        self.blocks = nn.Sequential(*stages)
        self.norm = normalise(extents[-1], norm_momentum)
        self.pool, self.classify = GlobalMean(), nn.Linear(extents[-1], num_classes)
        initialise(self, variant)
        if init_from is not None:
            take(self, read_weights(init_from, "init_from"), f"init_from={init_from}")

    def forward(self, images: Tensor) -> Tensor:
        """images (B, channels, height, width) -> logits (B, C)."""
        features: Tensor = activate(self.norm(self.blocks(self.stem(images))))
        logits: Tensor = self.classify(self.pool(features))
        return logits


def check_settings(depth: int, width: int, variant: str) -> None:
    if type(depth) is not int or (depth - 4) % 6 != 0 or depth < 10:
        raise ValueError(f"net.depth={depth} must be 4 + 6 n with n >= 1 blocks per stage; use 10, 16, 22, 28, ...")
    if depth > DEEPEST:
        raise ValueError(f"net.depth={depth} must be at most {DEEPEST}; the paper uses 28.")
    if type(width) is not int or width < 1:
        raise ValueError(f"net.width={width} must be a positive whole number.")
    if variant not in get_args(Variant):
        raise ValueError(f"net.variant={variant} must be one of {', '.join(get_args(Variant))}.")


class ResidualBlock(nn.Module):
    """Two 3 x 3 convolutions, each after BatchNorm and LeakyReLU, added to a shortcut."""

    def __init__(
        self,
        before: int,
        after: int,
        stride: int,
        activate_shortcut: bool,
        variant: Variant,
        norm_momentum: float,
    ) -> None:
        super().__init__()
        changes = before != after
        # TorchSSL activates the shortcut only where it convolves it, which matters at width 1.
        self.activate_shortcut = activate_shortcut and (changes or variant == "google")
        self.skip_norm = variant == "torchssl" and changes and not activate_shortcut
        self.norm1 = normalise(before, norm_momentum).requires_grad_(not self.skip_norm)
        self.conv1 = nn.Conv2d(before, after, kernel_size=3, stride=stride, padding=1)
        self.norm2 = normalise(after, norm_momentum)
        self.conv2 = nn.Conv2d(after, after, kernel_size=3, padding=1)
        self.shortcut = nn.Conv2d(before, after, kernel_size=1, stride=stride) if changes else nn.Identity()

    def forward(self, images: Tensor) -> Tensor:
        active = images if self.skip_norm else activate(self.norm1(images))
        residual: Tensor = self.conv2(activate(self.norm2(self.conv1(active))))
        shortcut: Tensor = self.shortcut(active if self.activate_shortcut else images)
        return shortcut + residual


def normalise(extent: int, momentum: float) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(extent, eps=1e-3, momentum=momentum)


def activate(normalised: Tensor) -> Tensor:
    # In place: BatchNorm's backward needs its input, not its output.
    return nn.functional.leaky_relu(normalised, negative_slope=0.1, inplace=True)


def initialise(network: nn.Module, variant: Variant) -> None:
    """He's normal initialisation by fan-out, Glorot's for the classifier."""
    for part in network.modules():
        if isinstance(part, nn.Conv2d):
            fan_out = part.out_channels * math.prod(part.kernel_size)
            nn.init.normal_(part.weight, std=math.sqrt(2 / fan_out))
            if variant == "google" and part.bias is not None:  # torchssl leaves PyTorch's uniform biases
                nn.init.zeros_(part.bias)
        elif isinstance(part, nn.Linear):
            nn.init.xavier_normal_(part.weight)
            nn.init.zeros_(part.bias)
