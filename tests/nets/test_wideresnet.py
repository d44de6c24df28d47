import math

import pytest
import torch
from torch import nn

from smoothpl.nets import WideResNet
from smoothpl.nets.wideresnet import ResidualBlock, Variant
from tests.support.composing import HEADS, build, composed, options


def count(network: nn.Module, trained_only: bool = False) -> int:
    return sum(p.numel() for p in network.parameters() if p.requires_grad or not trained_only)


@pytest.mark.parametrize(
    ("depth", "width", "num_classes", "total", "dead"),
    [(28, 2, 10, 1_469_642, 192), (28, 8, 100, 23_409_092, 768), (28, 2, 100, 1_481_252, 192)],
)
def test_the_torchssl_variant_has_the_published_number_of_parameters(
    depth: int, width: int, num_classes: int, total: int, dead: int
) -> None:
    network = WideResNet(num_classes, depth=depth, width=width)
    assert count(network) == total
    assert count(network) - count(network, trained_only=True) == dead


@pytest.mark.parametrize("option", [each for each in options("net") if each not in ("torchvision", "timm", *HEADS)])
def test_every_net_turns_images_into_logits(option: str) -> None:
    channels = 3 if option == "resnet50" else 1
    assert build("net", option, f"data.channels={channels}")(torch.randn(3, channels, 8, 8)).shape == (3, 10)


@pytest.mark.parametrize("variant", ["torchssl", "google"])
def test_exactly_the_trained_parameters_get_a_gradient(variant: Variant) -> None:
    network = WideResNet(10, depth=16, width=2, variant=variant)
    network(torch.randn(2, 3, 16, 16)).sum().backward()
    assert all((p.grad is not None) == p.requires_grad for p in network.parameters())
    assert (count(network) == count(network, trained_only=True)) == (variant == "google")


def reference(network: WideResNet, images: torch.Tensor, variant: Variant) -> torch.Tensor:
    """The published block, written out: normalise and activate, convolve, normalise and activate, convolve, add."""

    def act(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x > 0, x, 0.1 * x)

    x = network.stem(images)
    for number, block in enumerate(network.blocks):
        assert isinstance(block, ResidualBlock)
        first = act(block.norm1(x))
        changes = block.conv1.in_channels != block.conv1.out_channels
        if number == 0 and (changes or variant == "google"):
            x = first
        convolved = block.conv1(x if changes and variant == "torchssl" else first)
        x = (block.shortcut(x) if changes else x) + block.conv2(act(block.norm2(convolved)))
    logits: torch.Tensor = network.classify(act(network.norm(x)).mean(dim=(2, 3)))
    return logits


@pytest.mark.parametrize("variant", ["torchssl", "google"])
@pytest.mark.parametrize(("depth", "width"), [(10, 1), (16, 2)])
def test_the_forward_pass_is_the_published_one(variant: Variant, depth: int, width: int) -> None:
    network = WideResNet(10, depth=depth, width=width, variant=variant).eval()
    for norm in (part for part in network.modules() if isinstance(part, nn.BatchNorm2d)):
        nn.init.normal_(norm.weight)
        nn.init.normal_(norm.bias)
    images = torch.randn(4, 3, 16, 16)
    torch.testing.assert_close(network(images), reference(network, images, variant))


def test_convolutions_start_with_hes_deviation_and_biases_as_each_codebase_has_them() -> None:
    torchssl, google = WideResNet(10, depth=28, width=2), WideResNet(10, depth=28, width=2, variant="google")
    for part in torchssl.modules():
        if isinstance(part, nn.Conv2d) and part.weight.numel() > 10_000:
            expected = math.sqrt(2 / (part.out_channels * part.kernel_size[0] ** 2))
            assert math.isclose(part.weight.std().item(), expected, rel_tol=0.05)
    assert torchssl.stem.bias is not None
    assert torchssl.stem.bias.abs().sum() > 0
    assert google.stem.bias is not None
    assert google.stem.bias.abs().sum() == 0
    assert torchssl.classify.bias.abs().sum() == 0


def test_batch_norm_averages_as_slowly_as_the_knob_says() -> None:
    network = build("net", "wrn_10_1")
    momenta = {part.momentum for part in network.modules() if isinstance(part, nn.BatchNorm2d)}
    assert momenta == {composed().norm_momentum}


def test_an_unknown_variant_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"net\.variant=torchsl must be one of torchssl, google"):
        WideResNet(10, variant="torchsl")  # type: ignore[arg-type]


@pytest.mark.parametrize(("depth", "width", "key"), [(11, 2, "net.depth=11"), (4, 2, "net.depth=4"), (10, 0, "width")])
def test_impossible_sizes_are_refused(depth: int, width: int, key: str) -> None:
    with pytest.raises(ValueError, match=key):
        WideResNet(10, depth=depth, width=width)
