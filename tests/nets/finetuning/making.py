"""Small networks that learn on, for the tests of this folder."""

import torch
from omegaconf import OmegaConf
from torch.nn.functional import cross_entropy

from smoothpl.nets.finetuning.build import whole_network
from smoothpl.nets.finetuning.whole import WholeNetwork
from smoothpl.nets.heads import LinearHead
from tests.support.small_nets import SIDE, encoder

MODES = ("norms", "last", "lora", "all")
IMAGES = torch.rand(6, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(1))
LABELS = torch.tensor([0, 1, 2, 0, 1, 2])


def whole(kind: str, mode: str, digest: str = "ab" * 16, blocks: int = 1, rank: int = 4) -> WholeNetwork:
    backbone = encoder(kind)
    backbone.digest = digest
    head = LinearHead(backbone.dim, 3)
    torch.nn.init.normal_(head.classify.weight)
    finetune = OmegaConf.create({"mode": mode, "blocks": blocks, "rank": rank, "alpha": 8.0})
    return whole_network(backbone, head, finetune)


def learn(network: WholeNetwork, steps: int = 3) -> None:
    optimizer = torch.optim.SGD([each for each in network.parameters() if each.requires_grad], lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        cross_entropy(network(IMAGES), LABELS).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
