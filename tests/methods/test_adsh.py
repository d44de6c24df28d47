from collections.abc import Mapping

import pytest
import torch
from torch.nn.functional import cross_entropy

from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.pseudo.equal_shares import EqualShares
from smoothpl.run.build_method import build_method
from tests.support.composing import composed
from tests.support.method_checks import LARGE, SMALL, assert_same_losses, largest_jump
from tests.support.method_promises import assert_needs_whole_steps, assert_resumes, waits
from tests.support.method_steps import assert_follows

STEPS, EVERY, TAU = 100, 5, 0.95
VIEWS = ("labeled", "weak", "strong")
SOFT = ("shape=linear", "policy.quantiles=soft")


def test_of_each_class_the_share_is_kept_that_the_first_one_keeps() -> None:
    """CE_l + mean 1[sigma >= tau_yhat] CE(yhat, z_s); every 5 steps tau_k is the confidence of the last of the first
    n_k * share of class k, the share of the first class being what is at 0.95 or above."""
    seen: dict[int, tuple[int, float]] = {}
    thresholds = [TAU] * 10
    steps = between = 0

    def rule(_: SemiSupervisedModule, batch: Batch, outputs: Mapping[str, Output]) -> torch.Tensor:
        nonlocal steps, between
        confidence, label = outputs["weak"].logits.detach().softmax(1).max(1)
        tau = torch.tensor([thresholds[c] for c in label])
        counts = confidence >= tau
        between += int((counts != (confidence >= TAU)).sum())
        for image, c, sigma in zip(batch.image.tolist(), label.tolist(), confidence.tolist(), strict=True):
            seen[image] = (c, sigma)
        steps += 1
        if steps % EVERY == 0:
            by_class = [sorted((sigma for own, sigma in seen.values() if own == c), reverse=True) for c in range(10)]
            sure = sum(sigma >= TAU for sigma in by_class[0])
            for c in range(1, 10):
                kept = len(by_class[c]) * sure // max(len(by_class[0]), 1)
                if by_class[c] and by_class[0]:
                    thresholds[c] = by_class[c][kept - 1] if kept else max(TAU, by_class[c][0] + 1e-7)
        lesson = (counts * cross_entropy(outputs["strong"].logits, label, reduction="none")).mean()
        return cross_entropy(outputs["labeled"].logits, batch.label) + lesson

    assert_follows(rule, "method=adsh", f"policy.refresh_every={EVERY}", steps=STEPS)
    assert between > 100


def test_before_its_thresholds_are_found_it_is_fixmatch() -> None:
    assert_same_losses(("method=adsh", "policy.refresh_every=1000"), ("method=fixmatch",))


def test_it_jumps_as_published_and_its_smooth_version_does_not() -> None:
    assert largest_jump("weak", VIEWS, "method=adsh") > LARGE
    assert largest_jump("weak", VIEWS, "method=adsh", "shape=linear") > LARGE  # classes tie below their thresholds
    assert largest_jump("weak", VIEWS, "method=adsh", *SOFT, "threshold_floor=0.5", "smooth=strict") < SMALL


def test_what_is_not_smooth_is_refused_with_the_way_out() -> None:
    with pytest.raises(ConfigError, match=r"counts and sorts labels: use policy\.quantiles=soft"):
        build_method(composed("method=adsh", "shape=linear", "threshold_floor=0.5", "smooth=strict"))
    with pytest.raises(ConfigError, match=r"below 1/2.*use threshold_floor=0\.5"):
        build_method(composed("method=adsh", *SOFT, "smooth=strict"))


def test_the_class_with_the_most_labels_is_that_of_the_run() -> None:
    weighting = build_method(composed("method=adsh")).weighting
    assert weighting is not None
    weighting.prepare(100, torch.tensor([1, 2, 3, 9, 3, 2, 1, 1, 1, 1]))
    assert isinstance(weighting.policy, EqualShares)
    assert weighting.policy.first == 3


@pytest.mark.parametrize("words", [(), SOFT])
def test_a_step_never_waits_for_the_device(words: tuple[str, ...]) -> None:
    assert not waits("method=adsh", *words)


def test_its_memory_needs_whole_steps() -> None:
    assert_needs_whole_steps("method=adsh")


def test_a_resumed_run_continues_as_if_it_had_not_stopped() -> None:
    assert_resumes("method=adsh", "policy.refresh_every=2", "threshold=0.2")
    assert_resumes("method=adsh", *SOFT, "threshold=0.2")
