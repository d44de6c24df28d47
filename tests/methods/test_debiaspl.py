from collections.abc import Mapping

import pytest
import torch
from torch.nn.functional import cross_entropy

from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.pseudo.debiasing import Debiasing
from smoothpl.run.build import build_module
from tests.support.composing import composed
from tests.support.method_checks import LARGE, SMALL, assert_same_losses, largest_jump, waits_in_a_step
from tests.support.method_steps import assert_follows

VIEWS = ("labeled", "weak", "strong")
HALF_SURE = "threshold=0.5"  # an untrained network is on both sides of it


def test_labels_are_made_without_the_bias_and_learned_against_it() -> None:
    """yhat of softmax(z_w - 0.4 log phat), then phat <- 0.9 phat + 0.1 mean p_w, then CE(yhat, z_s + 0.4 log phat)."""
    phat = torch.full((10,), 0.1)

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal phat
        labeled, weak, strong = (seen[view].logits for view in VIEWS)
        confidence, label = (weak.detach() - 0.4 * phat.log()).softmax(1).max(1)
        phat = 0.9 * phat + 0.1 * weak.detach().softmax(1).mean(0)
        each = cross_entropy(strong + 0.4 * phat.log(), label, reduction="none")
        return cross_entropy(labeled, batch.label) + ((confidence > 0.5) * each).mean()

    module = assert_follows(rule, "method=debiaspl", HALF_SURE, "refine.debiasing.momentum=0.9")
    assert module.weighting is not None
    (debiasing,) = module.weighting.further
    assert isinstance(debiasing, Debiasing)
    torch.testing.assert_close(debiasing.predicted, phat)
    assert phat.max() > 1.2 * phat.min()  # unlike where classes are averaged over


def test_without_its_strength_it_is_fixmatch() -> None:
    words = ("method=debiaspl", HALF_SURE, "refine.debiasing.strength=0")
    assert_same_losses(words, ("method=fixmatch", HALF_SURE))


def test_its_gradient_jumps_at_the_threshold_as_published_and_does_not_with_a_ramp() -> None:
    assert largest_jump("weak", VIEWS, "method=debiaspl") > LARGE
    assert largest_jump("weak", VIEWS, "method=debiaspl", "shape=linear", "smooth=strict") < SMALL


def test_a_step_does_not_wait_for_the_device() -> None:
    assert not waits_in_a_step("method=debiaspl")


def test_its_memory_is_made_for_whole_steps() -> None:
    with pytest.raises(ConfigError, match="accumulate=2"):
        build_module(composed("method=debiaspl", "accumulate=2"))
