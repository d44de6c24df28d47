from collections.abc import Mapping

import pytest
import torch
from torch.nn.functional import cross_entropy, kl_div

from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.run.build_method import build_method
from tests.support.composing import composed
from tests.support.method_checks import (
    LARGE,
    SMALL,
    assert_parts_make_the_whole,
    assert_same_losses,
    largest_jump,
    waits_in_a_step,
)
from tests.support.method_steps import assert_follows

VIEWS = ("labeled", "weak", "strong")
HALF_SURE = "threshold=0.5"  # an untrained network is on both sides of it


def test_images_that_are_not_sure_teach_their_sharpened_probabilities() -> None:
    """CE_l + mean m CE(argmax p_w, z_s) + mean (1 - m) KL(sg softmax(z_w / 0.5) || p_s), m = 1[max p_w > tau]."""
    sides = set[float]()

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        labeled, weak, strong = (seen[view].logits for view in VIEWS)
        sure = (weak.softmax(1).amax(1) > 0.5).float()
        sides.update(sure.tolist())
        lesson = sure * cross_entropy(strong, weak.argmax(1), reduction="none")
        rest = kl_div(strong.log_softmax(1), (weak.detach() / 0.5).softmax(1), reduction="none").sum(1)
        return cross_entropy(labeled, batch.label) + lesson.mean() + ((1 - sure) * rest).mean()

    assert_follows(rule, "method=refixmatch", HALF_SURE)
    assert sides == {0.0, 1.0}


def test_without_the_complement_it_is_fixmatch() -> None:
    assert_same_losses(("method=refixmatch", "terms.complement.weight=0"), ("method=fixmatch",))


def test_its_gradient_jumps_at_the_threshold_as_published_and_does_not_with_a_ramp() -> None:
    """Looked at where it is large: at 0.95 a label and sharpened probabilities are but a few thousandths apart."""
    words = ("method=refixmatch", "threshold=0.6")
    assert largest_jump("weak", VIEWS, *words) > LARGE
    for threshold in ("threshold=0.6", "threshold=0.95"):
        assert largest_jump("weak", VIEWS, *words, threshold, "shape=linear", "smooth=strict") < SMALL
    with pytest.raises(ConfigError, match="the shape jumps at the threshold"):
        build_method(composed("method=refixmatch", "smooth=strict"))


def test_a_step_does_not_wait_for_the_device() -> None:
    assert not waits_in_a_step("method=refixmatch")


def test_a_step_may_be_computed_in_parts() -> None:
    build_method(composed("method=refixmatch", "accumulate=2"))
    assert_parts_make_the_whole("method=refixmatch", HALF_SURE)
