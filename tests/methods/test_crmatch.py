from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cosine_embedding_loss, cross_entropy, leaky_relu

from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.run.build_method import build_method
from tests.support.composing import composed
from tests.support.method_checks import LARGE, SMALL, assert_parts_make_the_whole, largest_jump
from tests.support.method_promises import assert_is_read_without_its_heads, assert_ranks_agree, waits
from tests.support.method_steps import assert_follows, gradient, module_and_batches

STEPS = 60


def test_views_are_kept_apart_and_turns_of_other_images_are_told() -> None:
    """CE_l + mean 1[sigma >= .95] (CE(yhat, z_s) + relu(cos(g_s, g_w))) + CE of the four turns of B other images."""
    taught = pushed = 0

    def rule(module: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> Tensor:
        nonlocal taught, pushed
        known = dict(module.network.named_parameters())
        p = seen["weak"].logits.detach().softmax(1)
        above = (p.amax(1) >= 0.95).float()
        lesson = cross_entropy(seen["strong"].logits, p.argmax(1), reduction="none")
        one, other = (seen[view].heads["distance"] for view in ("strong", "weak"))
        far = cosine_embedding_loss(one, other, -torch.ones(len(p)), reduction="none")
        taught += int(above.sum())
        pushed += int((above * far > 0).sum())
        features = seen["quarters"].features
        assert features is not None
        (first, shift), (second, bias) = (
            [known[f"heads.rotation.{layer}.{name}"] for name in ("weight", "bias")] for layer in (0, 2)
        )
        turns = (features @ first.T + shift).relu() @ second.T + bias
        told = cross_entropy(turns, torch.tensor([0, 1, 2, 3] * 4))
        return cross_entropy(seen["labeled"].logits, batch.label) + (above * (lesson + far)).mean() + told

    assert_follows(rule, "method=crmatch", steps=STEPS)
    assert taught > 20
    assert pushed > 20


def test_the_distance_is_of_the_map_with_all_its_places() -> None:
    module, batches = module_and_batches("method=crmatch")
    batch = next(batches)
    maps: list[Tensor] = []
    norm = dict(module.network.named_modules())["base.norm"]
    norm.register_forward_hook(lambda _, given, made: maps.append(leaky_relu(made.detach().clone(), 0.1)))
    seen = module.look(batch)
    flat, known = maps[0].flatten(1), dict(module.network.named_parameters())
    weight, bias = known["heads.distance.weight"], known["heads.distance.bias"]
    assert weight.shape == (maps[0].shape[1], maps[0].shape[1] * 2 * 2)  # digits of 8 pixels
    own = flat[len(batch.label) :][: len(batch.weak)]
    torch.testing.assert_close(seen["weak"].heads["distance"], own @ weight.T + bias)


def test_others_are_other_images_as_many_as_labeled_ones_by_all_four_turns() -> None:
    _, batches = module_and_batches("method=crmatch")
    first, second = next(batches), next(batches)
    quarters = first.views["quarters"]
    assert len(quarters) == 4 * len(first.label)
    assert quarters[1::4].equal(torch.rot90(quarters[0::4], 1, (2, 3)))
    assert not quarters.equal(second.views["quarters"])
    assert not any(quarters[0].equal(each) for each in (*first.weak, *first.labeled))


def test_without_its_two_losses_it_is_fixmatch() -> None:
    off = ("terms.far.weight=0", "terms.four_turns.weight=0", "threshold=0.2")
    method, batches = module_and_batches("method=crmatch", *off)
    other, _ = module_and_batches("method=fixmatch", "views_wanted=[quarters]", "threshold=0.2")
    for batch in batches:
        ours, theirs = (each.learn_from_all(batch, each.weighting) for each in (method, other) if each.weighting)
        assert ours["loss"].equal(theirs["loss"])
        shared = gradient(theirs["loss"], other)
        assert gradient(ours["loss"], method)[: len(shared)].equal(shared)  # the heads come last
    assert (ours["weight"] > 0).any()


def jump(*words: str) -> float:
    """As the weak view goes from one class to another, and its embedding through a right angle with the strong one."""

    def output(logits: Tensor) -> Output:
        return Output(logits, heads={"distance": logits, "rotation": logits[:5000, :4]})

    views = ("labeled", "weak", "strong", "quarters")
    return largest_jump("weak", views, "method=crmatch", "terms.four_turns.weight=0", *words, output=output)


def test_its_threshold_and_its_kink_jump_and_those_of_its_smooth_version_do_not() -> None:
    assert jump("terms.far.weight=0") > LARGE
    smooth = ("shape=linear", "threshold=0.6")
    assert jump(*smooth) > LARGE
    assert jump(*smooth, "terms.far.hinge=squared", "smooth=strict") < SMALL
    with pytest.raises(ConfigError, match=r"the shape jumps .*; the distance has a kink"):
        build_method(composed("method=crmatch", "smooth=strict"))


def test_parts_of_a_step_make_the_whole() -> None:
    assert_parts_make_the_whole("method=crmatch")


def test_a_step_never_waits_for_the_device() -> None:
    assert not waits("method=crmatch")


def test_a_trained_run_is_read_without_its_heads(tmp_path: Path) -> None:
    assert_is_read_without_its_heads(tmp_path / "run", "method=crmatch")


@pytest.mark.processes
def test_two_processes_learn_what_one_does(tmp_path: Path) -> None:
    assert_ranks_agree(tmp_path, "method=crmatch")
