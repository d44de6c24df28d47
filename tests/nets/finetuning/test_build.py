"""Each way of finetuning trains exactly the weights that it says, and no others."""

from typing import Any

import pytest
import torch
from omegaconf import OmegaConf
from torch import nn

from smoothpl.errors import ConfigError
from smoothpl.nets.finetuning.build import whole_network
from smoothpl.nets.heads import LinearHead
from tests.nets.finetuning.making import IMAGES, MODES, learn, whole
from tests.support.small_nets import KINDS, SIDE, encoder, small

NORMALISING = (nn.BatchNorm2d, nn.LayerNorm)
LAST = {
    "resnet": ("layer4.0.",),
    "transformer": ("blocks.2.", "norm."),
    "mobilenet": ("features.4.", "features.5."),
    "torchvision_transformer": ("encoder.layers.encoder_layer_1.", "encoder.ln."),
}


class Plain:
    """A backbone of which only the network matters."""

    name, digest, size = "plain", "ab", SIDE

    def __init__(self, network: nn.Module) -> None:
        self.network = network


def test_vectors_made_elsewhere_cannot_be_finetuned() -> None:
    class Table:
        name = "embeddings"

    table: Any = Table()
    with pytest.raises(ConfigError, match=r"^finetune=lora: backbone embeddings has no weights that could learn "):
        whole_network(table, LinearHead(4, 3), OmegaConf.create({"mode": "lora"}))


def expected(kind: str, mode: str) -> set[str]:
    """Said once more, by what is known of these networks."""
    network = small(kind)
    names = [name for name, _ in network.named_parameters()]
    if mode == "norms":
        norms = [path for path, each in network.named_modules() if isinstance(each, NORMALISING)]
        return {name for name in names if name.rpartition(".")[0] in norms}
    return {name for name in names if mode == "all" or (mode == "last" and name.startswith(LAST[kind]))}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_moves_is_what_was_asked_for_and_the_head(kind: str, mode: str) -> None:
    network = whole(kind, mode)
    before = {name: each.clone() for name, each in network.named_parameters()}
    learn(network)
    after = dict(network.named_parameters())
    moved = {name for name in after if not torch.equal(after[name], before[name])}
    assert {name for name in moved if name.startswith("head.")} == {"head.classify.weight", "head.classify.bias"}
    moved = {name.removeprefix("backbone.") for name in moved if name.startswith("backbone.")}
    if mode == "lora":
        assert moved
        assert all(".lora_A." in name or ".lora_B." in name for name in moved)
    else:
        assert moved == expected(kind, mode)


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_as_many_blocks_learn_as_are_said(blocks: int) -> None:
    found = {name.split(".")[1] for name in whole("transformer", "last", blocks=blocks).trained if "blocks" in name}
    assert found == {str(number) for number in range(3 - blocks, 3)}


def test_rank_0_leaves_the_backbone_frozen() -> None:
    network = whole("transformer", "lora", rank=0)
    learn(network)
    assert not network.trained
    with torch.no_grad():
        assert torch.equal(network.backbone(IMAGES), small("transformer")(IMAGES))


def test_the_network_it_is_made_of_stays_as_it_is() -> None:
    backbone = encoder("resnet")
    before = {name: each.clone() for name, each in backbone.state_dict().items()}
    for mode in MODES:
        finetune = OmegaConf.create({"mode": mode, "blocks": 1, "rank": 2, "alpha": 8.0})
        learn(whole_network(backbone, LinearHead(backbone.dim, 3), finetune))
    assert all(torch.equal(each, before[name]) for name, each in backbone.state_dict().items())
    assert not any("lora" in name for name in backbone.state_dict())


@pytest.mark.parametrize(
    ("mode", "network", "message"),
    [
        ("norms", nn.Sequential(nn.Conv2d(3, 4, 3)), r"^finetune=norms trains .*, and plain has none that learn; use"),
        ("all", nn.Flatten(), r"^finetune=all: backbone plain has no weights that could learn .*; use a network of"),
        ("last", small("resnet"), r"^finetune\.blocks=9: plain has 5 blocks; use fewer, or finetune=all\.$"),
    ],
)
def test_what_a_network_does_not_have_is_refused_in_one_line(mode: str, network: nn.Module, message: str) -> None:
    finetune = OmegaConf.create({"mode": mode, "blocks": 9})
    with pytest.raises(ConfigError, match=message) as error:
        whole_network(Plain(network), LinearHead(4, 3), finetune)
    assert "\n" not in str(error.value)
