import sys

import pytest
import torch
from torch import nn

from smoothpl.errors import ConfigError
from smoothpl.nets.finetuning.lora import adaptable, adapted, merged
from tests.support.small_nets import KINDS, SIDE, small

IMAGES = torch.rand(5, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(1))


def moved(network: nn.Module) -> nn.Module:
    """As if its adapters had learned."""
    for name, parameter in network.named_parameters():
        if "lora_" in name:
            nn.init.normal_(parameter, std=0.1)
    return network


@pytest.mark.parametrize("kind", KINDS)
def test_adapters_change_nothing_until_they_learn(kind: str) -> None:
    with torch.no_grad():
        assert torch.equal(adapted(small(kind), 4, 8.0, kind).eval()(IMAGES), small(kind)(IMAGES))


@pytest.mark.parametrize("kind", KINDS)
def test_merged_equals_unmerged(kind: str) -> None:
    network = moved(adapted(small(kind), 4, 8.0, kind)).eval()
    with torch.no_grad():
        unmerged = network(IMAGES)
        assert not torch.allclose(unmerged, small(kind)(IMAGES), atol=1e-3)
        torch.testing.assert_close(merged(network)(IMAGES), unmerged, atol=1e-5, rtol=1e-4)


def test_what_is_merged_is_the_sum_of_the_weight_and_the_scaled_product() -> None:
    network = moved(adapted(small("transformer"), 4, 8.0, ""))
    state = network.state_dict()
    inside = "model.blocks.1.attn.qkv"
    product = state[f"{inside}.lora_B.default.weight"] @ state[f"{inside}.lora_A.default.weight"]
    wanted = state[f"{inside}.base_layer.weight"] + 8.0 / 4 * product
    torch.testing.assert_close(merged(network).state_dict()["blocks.1.attn.qkv.weight"], wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_a_merged_network_has_the_layers_it_had(kind: str) -> None:
    names = [*small(kind).state_dict()]
    assert [*merged(adapted(small(kind), 4, 8.0, kind)).state_dict()] == names


def test_rank_0_is_the_network_itself() -> None:
    network = small("resnet")
    assert adapted(network, 0, 8.0, "") is network is merged(network)


def test_attention_and_1_x_1_convolutions_are_adapted() -> None:
    names = adaptable(small("transformer"))
    assert [name for name in names if name.startswith("blocks.0.")] == [
        *("blocks.0.attn.qkv", "blocks.0.attn.proj", "blocks.0.mlp.fc1", "blocks.0.mlp.fc2")
    ]
    network = small("mobilenet")
    assert {network.get_submodule(name).kernel_size for name in adaptable(network)} == {(1, 1)}


def test_layers_that_torchs_attention_never_calls_are_left_alone() -> None:
    assert not [name for name in adaptable(small("torchvision_transformer")) if "attention" in name]


def test_a_network_without_such_layers_is_refused_in_one_line() -> None:
    with pytest.raises(ConfigError, match=r"^finetune=lora adapts .*, and plain has none; use finetune=norms, last"):
        adapted(nn.Sequential(nn.Conv2d(3, 4, 3)), 4, 8.0, "plain")


def test_without_peft_the_line_for_pip_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(ConfigError, match=r"^finetune=lora is not installed: pip install 'smoothpl\[finetune\]'\.$"):
        adapted(small("resnet"), 4, 8.0, "")
