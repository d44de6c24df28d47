import pytest
import torch
from torch import nn
from torchvision.models import resnet18, vit_b_16

from smoothpl.errors import ConfigError
from smoothpl.nets import LinearHead, WideResNet
from smoothpl.nets.last_map import length_of_map, overheard, pooling
from smoothpl.nets.method_heads import OfMap
from smoothpl.nets.with_heads import WithHeads

DIMS = (3, 16, 16)
IMAGES = torch.randn(2, *DIMS, generator=torch.Generator().manual_seed(0))


def wide() -> WideResNet:
    torch.manual_seed(0)
    return WideResNet(num_classes=5, depth=10, width=1)


@pytest.mark.parametrize(("network", "length"), [(wide(), 64 * 4 * 4), (resnet18(num_classes=5), 512)])
def test_the_last_map_is_what_is_averaged(network: nn.Module, length: int) -> None:
    assert length_of_map(network, DIMS) == length
    assert network.training
    network.eval()
    with overheard(pooling(network)) as seen:
        network(IMAGES)
    assert seen[0].shape == (2, length)
    layer = pooling(network)
    assert layer is not None
    assert not layer._forward_pre_hooks


def test_a_head_sees_the_map_with_all_its_places() -> None:
    network = WithHeads(wide(), {"distance": OfMap}, num_classes=5, dims=DIMS).eval()
    with overheard(pooling(network.base)) as seen:
        network.base(IMAGES)
    head = network.heads["distance"]
    assert isinstance(head, OfMap)
    assert (head.in_features, head.out_features) == (64 * 16, 64)
    assert network.look(IMAGES).heads["distance"].equal(head(seen[0]))
    features = network.look(IMAGES).features
    assert features is not None
    torch.testing.assert_close(seen[0].view(2, 64, 16).mean(2), features)


def test_where_there_is_no_map_it_sees_the_features() -> None:
    with torch.device("meta"):
        assert pooling(vit_b_16()) is None
    network = WithHeads(LinearHead(6, 3), {"distance": OfMap}, num_classes=3)
    assert network.look(torch.randn(2, 6)).heads["distance"].shape == (2, 6)


def test_images_of_unknown_size_are_refused() -> None:
    with pytest.raises(ConfigError, match="needs the size of images in pixels; add"):
        WithHeads(wide(), {"distance": OfMap}, num_classes=5)
