from collections.abc import Mapping

import pytest
import torch
from torch.nn.functional import cross_entropy, kl_div

from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.run.build import build_module
from smoothpl.run.build_method import build_method
from tests.support.composing import composed
from tests.support.method_checks import LARGE, SMALL, assert_same_losses, largest_jump, waits_in_a_step
from tests.support.method_steps import assert_follows, module_and_batches

VIEWS = ("labeled", "weak", "strong", "medium")
CEILING = 0.5
HALF_SURE = f"threshold={CEILING}"  # an untrained network is on both sides of it
SMOOTH = ("shape=linear", "score=margin", "policy.counts=soft", "smooth=strict")
WITHOUT_TERMS = tuple(
    f"terms.{name}.weight=0" for name in ("medium_from_weak", "strong_from_medium", "strong_from_weak")
)


def num_unlabeled() -> int:
    module, _ = module_and_batches("method=sequencematch")
    assert module.weighting is not None
    return len(module.weighting.policy.get_buffer("ledger"))


@pytest.mark.parametrize(("warm_up", "steps"), [(True, 30), (False, 70)])
def test_each_view_teaches_the_next_above_the_threshold_of_its_class(warm_up: bool, steps: int) -> None:
    """FlexMatch + KL(m <- w) + KL(s <- m) + KL(s <- w), each where the teaching view is above tau a / (2 - a).

    a is the count of a class over the largest one. With the warm-up images not yet selected count as a class, and hold
    all thresholds low for longer than a test lasts: without it images are on both sides.
    """
    selected = [-1] * num_unlabeled()  # of every image the last label that it was given with confidence
    sides = set[bool]()

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        labeled, weak, strong, medium = (seen[view].logits for view in VIEWS)
        counts = [selected.count(c) for c in range(-1, 10)]
        progress = torch.tensor(counts[1:]) / max(1, *(counts if warm_up else counts[1:]))

        def mask(logits: torch.Tensor) -> torch.Tensor:
            confidence, label = logits.detach().softmax(1).max(1)
            sides.update((found := confidence > CEILING * (progress / (2 - progress))[label]).tolist())
            return found

        def taught(learner: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
            target = (teacher.detach() / 0.5).softmax(1)
            return (mask(teacher) * kl_div(learner.log_softmax(1), target, reduction="none").sum(1)).mean()

        lesson = (mask(weak) * cross_entropy(strong, weak.argmax(1), reduction="none")).mean()
        for image, p in zip(batch.image.tolist(), weak.detach().softmax(1), strict=True):
            if p.max() > CEILING:
                selected[image] = int(p.argmax())
        chain = taught(medium, weak) + taught(strong, medium) + taught(strong, weak)
        return cross_entropy(labeled, batch.label) + lesson + chain

    assert_follows(rule, "method=sequencematch", HALF_SURE, f"policy.warm_up={warm_up}", steps=steps)
    assert sides == ({True} if warm_up else {False, True})


def test_without_its_chain_it_is_flexmatch_that_looks_at_a_third_view() -> None:
    flexmatch = ("method=flexmatch", HALF_SURE, "views_wanted=[medium]")
    assert_same_losses(("method=sequencematch", HALF_SURE, *WITHOUT_TERMS), flexmatch)


@pytest.mark.parametrize("moving", ["weak", "medium"])
def test_its_gradient_jumps_by_either_view_that_teaches_and_does_not_in_its_smooth_version(moving: str) -> None:
    assert largest_jump(moving, VIEWS, "method=sequencematch") > LARGE
    assert largest_jump(moving, VIEWS, "method=sequencematch", *SMOOTH) < SMALL


def test_every_obstacle_is_named() -> None:
    with pytest.raises(ConfigError, match=r"shape jumps.*jumps at ties.*counts images above a threshold"):
        build_method(composed("method=sequencematch", "smooth=strict"))


def test_a_step_does_not_wait_for_the_device() -> None:
    assert not waits_in_a_step("method=sequencematch")


def test_its_memory_is_made_for_whole_steps() -> None:
    with pytest.raises(ConfigError, match="accumulate=2"):
        build_module(composed("method=sequencematch", "accumulate=2"))
