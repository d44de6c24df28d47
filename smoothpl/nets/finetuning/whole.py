"""A backbone and its head as one network that learns: prepared pixels in, logits out."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn

from smoothpl.errors import require
from smoothpl.nets.finetuning.lora import merged
from smoothpl.nets.heads import Head


class Origin(NamedTuple):
    """What a backbone was before it learned on: `digest` stands for all of its weights."""

    name: str
    digest: str
    size: int  # pixels of a side


class WholeNetwork(nn.Module):
    """Of the backbone, only some weights learn, and only these are in a checkpoint; the others are those it came with.

    `trained` names them, each with its depth in the backbone, which has `num_blocks` blocks.
    """

    def __init__(
        self, backbone: nn.Module, head: Head, trained: Mapping[str, int], num_blocks: int, came_as: Origin
    ) -> None:
        super().__init__()
        self.backbone, self.head = backbone.eval(), head
        self.trained, self.num_blocks, self.came_as = dict(trained), num_blocks, came_as
        for path, parameter in backbone.named_parameters():
            parameter.requires_grad_(path in trained)
        self.origin: Tensor
        self.register_buffer("origin", torch.tensor([*bytes.fromhex(came_as.digest)], dtype=torch.uint8))
        self.register_state_dict_post_hook(leave_out_frozen)  # type: ignore[no-untyped-call]
        self.register_load_state_dict_pre_hook(fill_in_frozen)  # type: ignore[no-untyped-call]

    def forward(self, pixels: Tensor) -> Tensor:
        """pixels (B, 3, size, size), as the backbone expects them -> logits (B, C)."""
        # Colours side by side, as where features are computed: the numbers are the same to the last bit.
        logits: Tensor = self.head(self.backbone(pixels.contiguous(memory_format=torch.channels_last)))
        return logits

    def train(self, mode: bool = True) -> Self:
        """The backbone computes as it did when its features were taken: running statistics of BatchNorm stay what they
        are, and nothing is dropped by chance."""
        super().train(mode)
        self.backbone.eval()
        return self

    def confidences_of(self, logits: Tensor) -> Tensor:
        return self.head.confidences_of(logits)

    def by_depth(self) -> dict[int, list[nn.Parameter]]:
        """What learns of the backbone, from its input on."""
        found: dict[int, list[nn.Parameter]] = {}
        for path, parameter in self.backbone.named_parameters():
            if path in self.trained:
                found.setdefault(self.trained[path], []).append(parameter)
        return dict(sorted(found.items()))

    def finished(self) -> nn.Module:
        """The backbone as an ordinary network; this one has served."""
        return merged(self.backbone)

    def frozen(self, prefix: str = "") -> dict[str, Tensor]:
        """What the backbone came with and has kept."""
        inside = dict(self.backbone.named_parameters(remove_duplicate=False)) | dict(self.backbone.named_buffers())
        return {f"{prefix}backbone.{path}": each for path, each in inside.items() if path not in self.trained}


def leave_out_frozen(network: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    assert isinstance(network, WholeNetwork)
    for key in network.frozen(prefix):
        state.pop(key, None)


def fill_in_frozen(network: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    """Its own; they must be those with which the others have learned."""
    assert isinstance(network, WholeNetwork)
    origin = state.get(f"{prefix}origin")
    require(
        origin is None or torch.equal(origin.cpu(), network.origin.cpu()),
        f"backbone {network.came_as.name} has other weights now than those that were finetuned; install the "
        "version that the run was trained with.",
    )
    state.update({key: each.detach() for key, each in network.frozen(prefix).items() if key not in state})
