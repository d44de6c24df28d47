"""Networks that came from TensorFlow, made for one size of images.

They compute their padding from each image. That is found out once here: where it is a constant, ONNX Runtime joins it
with the convolution (`convert.simplified`), and the whole network takes a third less time.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

SAME = "Conv2dSame"
"""timm's class, by its name: this module must work without timm."""


class FixedPadding(nn.Conv2d):
    """A convolution with a padding that may be larger on the right and below."""

    def __init__(self, layer: nn.Conv2d, dims: torch.Size) -> None:
        same: dict[str, Any] = {name: getattr(layer, name) for name in ("kernel_size", "stride", "dilation", "groups")}
        super().__init__(layer.in_channels, layer.out_channels, **same, bias=layer.bias is not None, device="meta")
        self.weight, self.bias = layer.weight, layer.bias
        (top, bottom), (left, right) = (
            around(dims[-2 + axis], layer.kernel_size[axis], layer.stride[axis], layer.dilation[axis])
            for axis in range(2)
        )
        self.around = (left, right, top, bottom)

    def forward(self, pixels: Tensor) -> Tensor:
        return super().forward(pad(pixels, self.around))


def around(length: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    """So many pixels that there are ceil(length / stride) outputs; an odd one comes last."""
    outputs = -(-length // stride)
    missing = max((outputs - 1) * stride + (kernel - 1) * dilation + 1 - length, 0)
    return missing // 2, missing - missing // 2


def fix_padding(network: nn.Module, size: int) -> None:
    """Replaces the convolutions of `network` that compute their padding, for images of `size` x `size` pixels."""
    found: dict[str, torch.Size] = {}
    layers = {name: part for name, part in network.named_modules() if type(part).__name__ == SAME}

    def remember(name: str) -> Any:
        return layers[name].register_forward_pre_hook(lambda _, given: found.update({name: given[0].shape}))

    hooks = [remember(name) for name in layers]
    try:
        with torch.no_grad():
            network.eval()(torch.zeros(1, 3, size, size))
    finally:
        for hook in hooks:
            hook.remove()
    for name, dims in found.items():
        layer = layers[name]
        assert isinstance(layer, nn.Conv2d)
        network.set_submodule(name, FixedPadding(layer, dims))
