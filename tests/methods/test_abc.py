from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.inference.parts import read_parts
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.nets.with_heads import base_of, length_of_features
from smoothpl.run.build import build_data, build_module
from smoothpl.run.training import train
from tests.support.backbones import TINY_BACKBONE
from tests.support.composing import SMALL as SMALL_BACKBONE
from tests.support.composing import TINY, composed
from tests.support.method_checks import LARGE, SMALL, largest_jump
from tests.support.method_promises import (
    assert_is_read_without_its_heads,
    assert_needs_whole_steps,
    assert_resumes,
    waits,
)
from tests.support.method_steps import assert_follows, gradient, module_and_batches

STEPS = 100
VIEWS = ("labeled", "weak", "strong", "strong2")
TAILS = ("split=imbalanced", "num_labels=100", "split.labeled_tail=10")
RARITY = {"expected": "terms.balanced.masks=expected", "drawn": "terms.balanced.masks=drawn"}


def labels_per_class() -> torch.Tensor:
    data = build_data(composed(*TAILS))
    data.setup("fit")
    return data.labeled_per_class


@pytest.mark.parametrize(("masks", "number"), [("drawn", STEPS), ("expected", STEPS // 2)])
def test_a_second_classifier_learns_by_itself_what_frequent_classes_are_left_out_of(masks: str, number: int) -> None:
    """CE_l + mean over s, s2 of 1[max h_w >= 0.95] CE(yhat, h) + mean m_l CE(y, b(l)) + sum over s, s2 of
    mean 1[max b_w >= 0.95] m_u CE(sg b_w, b); m_l is drawn with N_min / N_y, m_u with 1 - t (1 - N_min / N_yhat),
    or with the means of both masks, that of m_u over all classes."""
    count = labels_per_class()
    rarity = count.min() / count
    steps = taught = taught_by_second = left_out = 0

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal steps, taught, taught_by_second, left_out
        b = {view: each.heads["balanced"] for view, each in seen.items()}
        p = b["weak"].detach().softmax(1)
        confidence, yhat = seen["weak"].logits.detach().softmax(1).max(1)
        kept = 1 - steps / number * (1 - rarity)
        if masks == "drawn":
            chance = batch.chance["balance"]
            of_labeled, of_unlabeled = chance[: len(batch.label)], chance[len(batch.label) :]
            m_l, m_u = (of_labeled < rarity[batch.label]).float(), (of_unlabeled < kept[p.argmax(1)]).float()
        else:
            m_l, m_u = rarity[batch.label], 1 - steps / number * (p * (1 - rarity)).sum(1)
        lesson = (confidence >= 0.95).float()
        above = (p.amax(1) >= 0.95).float()
        steps += 1
        taught += int(lesson.sum())
        taught_by_second += int((above * m_u > 0).sum())
        left_out += int((above > 0).logical_and(m_u < 0.9).sum())
        loss = cross_entropy(seen["labeled"].logits, batch.label)
        loss = loss + (m_l * cross_entropy(b["labeled"], batch.label, reduction="none")).mean()
        for view in ("strong", "strong2"):
            loss = loss + 0.5 * (lesson * cross_entropy(seen[view].logits, yhat, reduction="none")).mean()
            loss = loss - (above * m_u * (p * b[view].log_softmax(1)).sum(1)).mean()
        return loss

    module = assert_follows(rule, "method=abc", *TAILS, RARITY[masks], steps=number)
    assert int(module.all_terms["balanced"].get_buffer("steps")) == number
    assert taught > 20
    assert taught_by_second > 20
    assert left_out > 5


def test_without_the_second_classifier_it_is_fixmatch_that_learns_from_two_strong_views() -> None:
    """Of the mean over both views: with the second view's weight at 0 and that of the first at 1, FixMatch itself."""
    off = ("terms.balanced.weight=0", "terms.second_lesson.weight=0", "unlabeled_weight=1", "threshold=0.2")
    method, batches = module_and_batches("method=abc", *off)
    words = ("views_wanted=[strong2]", "extra_heads=[balanced]", "threshold=0.2")
    other, _ = module_and_batches("method=fixmatch", *words)
    for batch in batches:
        ours, theirs = (each.learn_from_all(batch, each.weighting) for each in (method, other) if each.weighting)
        assert ours["loss"].equal(theirs["loss"])
        assert gradient(ours["loss"], method).equal(gradient(theirs["loss"], other))
    assert (ours["weight"] > 0).any()


def test_the_second_classifier_makes_the_predictions_of_the_run(tmp_path: Path) -> None:
    module, batches = module_and_batches("method=abc")
    images = next(batches).weak
    module.network.eval()
    seen = module.network.look(images)  # type: ignore[operator]
    assert module.network(images).equal(seen.heads["balanced"])
    assert not seen.logits.equal(seen.heads["balanced"])
    assert_is_read_without_its_heads(tmp_path / "run", "method=abc")


def test_on_features_the_trained_head_says_what_the_second_classifier_said(tmp_path: Path) -> None:
    words = (*TINY_BACKBONE, *TINY, "method=abc", "pictures=false")
    train(composed(*words), tmp_path / "run")
    module = build_module(composed(*words))
    state = torch.load(tmp_path / "run" / "last.ckpt", weights_only=True)["state_dict"]
    average = {name.removeprefix("average."): each for name, each in state.items() if name.startswith("average.")}
    module.average.load_state_dict(average)
    features = torch.randn(5, length_of_features(base_of(module.average)))
    torch.testing.assert_close(read_parts(tmp_path / "run", trust=True).network(features), module.average(features))


def test_a_head_on_features_that_is_not_linear_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"judged head balanced is linear, .* use net=linear with this method"):
        build_module(composed(*SMALL_BACKBONE, "method=abc", "net=mlp"))


def test_a_class_without_labels_is_refused() -> None:
    module, _ = module_and_batches("method=abc")
    with pytest.raises(ConfigError, match=r"class 3 has none; use split=balanced"):
        module.all_terms["balanced"].prepare(100, torch.tensor([4, 4, 4, 0, 4, 4, 4, 4, 4, 4]))


def test_it_jumps_as_published_and_its_smooth_version_does_not() -> None:
    assert largest_jump("weak", VIEWS, "method=abc", *TAILS) > LARGE
    for masks in RARITY.values():  # either way nothing weighs where two classes tie
        assert largest_jump("weak", VIEWS, "method=abc", *TAILS, masks, "shape=linear", "smooth=strict") < SMALL


def test_masks_by_the_dominant_class_jump_below_one_half_and_expected_ones_do_not() -> None:
    low = ("method=abc", *TAILS, "terms.balanced.threshold=0.3", "shape=linear")
    assert largest_jump("weak", VIEWS, *low) > LARGE
    assert largest_jump("weak", VIEWS, *low, RARITY["expected"], "smooth=strict") < SMALL
    with pytest.raises(ConfigError, match=r"masks and targets by the dominant class jump where two classes tie: use "):
        build_module(composed(*low, "smooth=strict"))


@pytest.mark.parametrize("masks", RARITY)
def test_a_step_never_waits_for_the_device(masks: str) -> None:
    assert not waits("method=abc", RARITY[masks])


def test_its_place_in_the_run_needs_whole_steps() -> None:
    assert_needs_whole_steps("method=abc")


def test_a_resumed_run_continues_as_if_it_had_not_stopped() -> None:
    assert_resumes("method=abc", "threshold=0.2", "terms.balanced.threshold=0.2")
