import pytest
import torch
from torch import nn

from smoothpl.nets import resnet50


def test_it_is_resnet_50() -> None:
    with torch.device("meta"):
        network = resnet50(norm_momentum=0.05)
    assert sum(each.numel() for each in network.parameters()) == 25_557_032
    assert {part.momentum for part in network.modules() if isinstance(part, nn.BatchNorm2d)} == {0.05}


def test_it_sees_colours_only() -> None:
    with pytest.raises(ValueError, match=r"data.channels=1 must be 3"):
        resnet50(10, channels=1)
