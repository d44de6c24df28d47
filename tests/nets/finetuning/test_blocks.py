"""Blocks of networks of timm and torchvision, against what their own code says they consist of."""

import pytest
import timm
import torch
from torch import nn
from torchvision import models

from smoothpl.nets.finetuning.blocks import depth_of, depths, paths_of_blocks

OF_TIMM = {
    "tf_efficientnet_lite0": 15,  # the first one of its 16 is of another kind, and only once there
    "resnet10t": 4,
    "resnet50": 16,
    "vit_tiny_patch16_224": 12,
    "convnext_atto": 12,
    "swin_tiny_patch4_window7_224": 12,
    "regnetx_002": 13,
    "mixer_s32_224": 8,
}
OF_TORCHVISION = {
    **{"resnet18": 8, "vit_b_16": 12, "swin_t": 12, "convnext_tiny": 18, "efficientnet_b0": 16, "mobilenet_v2": 17},
    **{"densenet121": 58, "inception_v3": 9, "squeezenet1_0": 8},
}


@pytest.mark.parametrize(("name", "number"), OF_TIMM.items())
def test_the_blocks_of_timm_are_counted(name: str, number: int) -> None:
    with torch.device("meta"):
        network = timm.create_model(name, num_classes=0)
    assert len(paths_of_blocks(network)) == max(depths(network).values()) == number


@pytest.mark.parametrize(("name", "number"), OF_TORCHVISION.items())
def test_the_blocks_of_torchvision_are_counted(name: str, number: int) -> None:
    knobs = {"init_weights": False} if name == "inception_v3" else {}
    with torch.device("meta"):
        network = models.get_model(name, weights=None, **knobs)
    assert len(paths_of_blocks(network)) == max(depths(network).values()) == number


def test_depth_grows_from_the_input_to_the_output() -> None:
    with torch.device("meta"):
        network = timm.create_model("vit_tiny_patch16_224", num_classes=0)
    known = depths(network)
    names = ["cls_token", "pos_embed", "patch_embed.proj.weight", "blocks.0.attn.qkv.weight", "blocks.11.mlp.fc2.bias"]
    assert [depth_of(name, known) for name in [*names, "norm.weight"]] == [0, 0, 0, 1, 12, 12]
    found = [depth_of(name, known) for name, _ in network.named_parameters()]
    assert found == sorted(found)


def test_what_was_put_into_a_layer_has_its_depth() -> None:
    assert depth_of("blocks.1.fc.lora_A.default.weight", {"": 0, "blocks.0": 1, "blocks.1": 2}) == 2


def test_a_plain_stack_of_layers_has_a_block_for_each() -> None:
    stack = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.Flatten())
    known = depths(stack)
    assert [depth_of(name, known) for name, _ in stack.named_parameters()] == [1, 1, 1, 1, 2, 2]
