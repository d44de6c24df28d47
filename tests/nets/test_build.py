from pathlib import Path

import pytest
import torch
from hydra.errors import InstantiationException

from smoothpl.nets.build import build_network
from tests.support.composing import HEADS, composed, options


@pytest.mark.parametrize("net", [each for each in options("net") if each not in ("timm", "torchvision", *HEADS)])
def test_every_network_is_built_in_the_layout_that_is_fastest(net: str) -> None:
    network = build_network(composed(f"net={net}", "data=cifar10").net)
    weights = [each for each in network.parameters() if each.ndim == 4]
    assert weights
    assert all(each.is_contiguous(memory_format=torch.channels_last) for each in weights)


@pytest.mark.parametrize("knob", ["weights", "init_from"])
def test_weights_that_a_checkpoint_replaces_need_not_be_there(knob: str, tmp_path: Path) -> None:
    name = ("net=torchvision", "net.name=resnet18", "data=cifar10")
    net = composed(*name, f"net.{knob}={tmp_path / 'gone.pth'}").net
    with pytest.raises(InstantiationException, match=rf"net\.{knob}=.*gone\.pth is not there"):
        build_network(net)
    assert len(build_network(net, with_pretrained=False).state_dict()) == 122
