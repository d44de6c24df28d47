from copy import deepcopy

import pytest
import torch
from torch import nn

from smoothpl.nets import WideResNet
from smoothpl.nets.forwards import Forward, confidences_of, logits_of, look, watch
from smoothpl.nets.heads import LinearHead
from smoothpl.nets.method_heads import Projection
from smoothpl.nets.several import SeveralHeads
from smoothpl.nets.with_heads import WithHeads

CHANCE = torch.Generator().manual_seed(0)
VIEWS = {name: torch.randn(4, 3, 16, 16, generator=CHANCE) for name in ("labeled", "weak", "strong")}


def network() -> nn.Module:
    torch.manual_seed(0)
    return WideResNet(num_classes=5, depth=10, width=1)


def test_joint_is_one_batch_and_apart_is_one_for_each_view() -> None:
    joint, apart = (look(network(), VIEWS, forward) for forward in ("joint", "apart"))
    whole = network()(torch.cat([*VIEWS.values()]))
    assert torch.cat([joint[name].logits for name in VIEWS]).equal(whole)
    for name, view in VIEWS.items():
        torch.testing.assert_close(apart[name].logits, network()(view))


def test_vectors_of_a_bank_are_joined_in_mixed_precision_too() -> None:
    head = LinearHead(8, 5)
    vectors = {name: torch.randn(4, 8, generator=CHANCE).half() for name in VIEWS}
    with torch.autocast("cpu", torch.bfloat16):
        assert {each.logits.dtype for each in look(head, vectors, "joint").values()} == {torch.bfloat16}


def test_split_leaves_the_weak_view_to_itself() -> None:
    seen = look(network(), VIEWS, "split")
    assert not seen["weak"].logits.requires_grad
    assert seen["weak"].logits.equal(network()(VIEWS["weak"]))
    assert seen["strong"].logits.requires_grad


@pytest.mark.parametrize("forward", ["joint", "apart"])
def test_who_only_watches_leaves_no_trace(forward: Forward) -> None:
    watched = network()
    before = deepcopy(watched.state_dict())
    seen = watch(watched, VIEWS, forward)
    assert not seen["weak"].logits.requires_grad
    assert all(value.equal(before[name]) for name, value in watched.state_dict().items())


def test_heads_are_split_among_views_as_logits_are() -> None:
    with_heads = WithHeads(network(), {"projection": Projection}, num_classes=5)
    seen = look(with_heads, VIEWS, "joint")
    assert {*seen["strong"].heads} == {"projection"}
    assert seen["strong"].heads["projection"].shape == (4, 64)
    assert seen["weak"].features is not None


def test_several_heads_give_logits_of_each_and_one_scale_of_confidences() -> None:
    several = SeveralHeads([LinearHead(3, 5), LinearHead(2, 5)])
    assert logits_of(several, torch.zeros(4, 5)).shape == (4, 2, 5)
    assert confidences_of(several, torch.zeros(4, 2, 5)).shape == (4, 5)
    logits = torch.randn(4, 5)
    assert confidences_of(network(), logits) is logits
