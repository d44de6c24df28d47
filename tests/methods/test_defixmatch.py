from collections.abc import Mapping

import pytest
import torch
from torch.nn.functional import cross_entropy

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

VIEWS = ("labeled", "weak", "strong", "labeled_strong")
HALF_SURE = "threshold=0.5"  # an untrained network is on both sides of it
TWO_LABELED_VIEWS = (
    "method=fixmatch",
    "labeled_weight=0.5",
    "unlabeled_weight=0.5",
    "views_wanted=[labeled_strong]",
    "terms=[labeled_view]",
    "terms.labeled_view.weight=0.5",
)


def fixmatch_loss(weak: torch.Tensor, strong: torch.Tensor) -> torch.Tensor:
    sure = (weak.softmax(1).amax(1) > 0.5).float()
    return (sure * cross_entropy(strong, weak.argmax(1), reduction="none")).mean()


def test_the_lesson_of_labeled_images_is_taken_off() -> None:
    """(CE(l) + CE(l_strong)) / 2 + 0.5 (L_FM on unlabeled images - L_FM on labeled ones)."""

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        labeled, weak, strong, labeled_strong = (seen[view].logits for view in VIEWS)
        of_labels = (cross_entropy(labeled, batch.label) + cross_entropy(labeled_strong, batch.label)) / 2
        return of_labels + 0.5 * (fixmatch_loss(weak, strong) - fixmatch_loss(labeled, labeled_strong))

    assert_follows(rule, "method=defixmatch", HALF_SURE)


def test_without_what_is_taken_off_it_is_fixmatch_with_two_labeled_views() -> None:
    assert_same_losses(
        ("method=defixmatch", HALF_SURE, "terms.labeled_lesson.weight=0"), (*TWO_LABELED_VIEWS, HALF_SURE)
    )


@pytest.mark.parametrize("moving", ["weak", "labeled"])
def test_its_gradient_jumps_at_both_thresholds_as_published_and_does_not_with_a_ramp(moving: str) -> None:
    assert largest_jump(moving, VIEWS, "method=defixmatch") > LARGE
    assert largest_jump(moving, VIEWS, "method=defixmatch", "shape=linear", "smooth=strict") < SMALL


def test_it_jumps_at_ties_below_one_half() -> None:
    words = ("method=defixmatch", "shape=linear", "threshold=0.3")
    assert largest_jump("labeled", VIEWS, *words) > LARGE
    with pytest.raises(ConfigError, match="below 1/2, where a hard target jumps at ties"):
        build_method(composed(*words, "smooth=strict"))
    assert largest_jump("labeled", VIEWS, *words, "score=margin", "smooth=strict") < SMALL


def test_a_step_does_not_wait_for_the_device() -> None:
    assert not waits_in_a_step("method=defixmatch")


def test_a_step_may_be_computed_in_parts() -> None:
    build_method(composed("method=defixmatch", "accumulate=2"))
    assert_parts_make_the_whole("method=defixmatch", HALF_SURE)
