import pytest
import timm
import torch
from timm.layers.conv2d_same import Conv2dSame
from torch import nn

from smoothpl.backbones.padding import FixedPadding, around, fix_padding


@pytest.mark.parametrize("size", [7, 8, 11])
@pytest.mark.parametrize(("kernel", "stride", "dilation"), [(3, 2, 1), (5, 2, 1), (3, 1, 1), (2, 3, 1), (3, 2, 2)])
def test_a_padding_that_is_fixed_is_the_one_that_was_computed(
    size: int, kernel: int, stride: int, dilation: int
) -> None:
    layer = Conv2dSame(3, 4, kernel, stride=stride, dilation=dilation, bias=True)
    pixels = torch.randn(2, 3, size, size + 2)
    fixed = FixedPadding(layer, pixels.shape)
    assert torch.equal(fixed(pixels), layer(pixels))
    assert fixed(pixels).shape[-2:] == (-(-size // stride), -(-(size + 2) // stride))
    assert {*fixed.state_dict()} == {*layer.state_dict()}


def test_an_odd_pixel_comes_last() -> None:
    assert around(length=8, kernel=3, stride=2, dilation=1) == (0, 1)
    assert around(length=7, kernel=3, stride=2, dilation=1) == (1, 1)
    assert around(length=8, kernel=1, stride=2, dilation=1) == (0, 0)


def test_a_whole_network_computes_the_same_with_the_same_weights() -> None:
    network = timm.create_model("tf_efficientnet_lite0", num_classes=0).eval()
    pixels, names = torch.randn(2, 3, 50, 50), [*network.state_dict()]
    with torch.no_grad():
        before = network(pixels)
        fix_padding(network, 50)
        assert torch.equal(network(pixels), before)
    assert [*network.state_dict()] == names
    assert sum(isinstance(part, FixedPadding) for part in network.modules()) == 5
    assert not any(isinstance(part, Conv2dSame) for part in network.modules())


def test_other_networks_stay_as_they_are() -> None:
    network = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1))
    layer = network[0]
    fix_padding(network, 8)
    assert network[0] is layer
