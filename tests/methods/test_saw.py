from collections.abc import Mapping

import pytest
import torch
from torch.nn.functional import cross_entropy

from smoothpl.config.checks import check
from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.run.build import build_data
from smoothpl.run.build_method import build_method
from tests.support.composing import composed
from tests.support.method_checks import LARGE, SMALL, largest_jump
from tests.support.method_promises import assert_needs_whole_steps, assert_resumes, waits
from tests.support.method_steps import assert_follows, gradient, module_and_batches

STEPS, EVERY = 100, 5
VIEWS = ("labeled", "weak", "strong")
TAILS = ("split=imbalanced", "num_labels=100", "split.labeled_tail=10")
SOFT = "balance.counts=soft"


def weights(count: torch.Tensor) -> torch.Tensor:
    number = count.sum() / len(count)
    weight = 1 / (1 - ((number - 1) / number) ** count)
    return (weight * len(count) / weight.sum()).float()


@pytest.mark.parametrize(("counts", "number"), [("hard", STEPS), ("soft", STEPS // 2)])
def test_both_losses_are_weighed_by_class(counts: str, number: int) -> None:
    """mean w_y CE_l + mean w'_yhat 1[sigma >= 0.95] CE(yhat, z_s), both w ~ 1 / (1 - beta^n), beta = (N - 1) / N; n
    counts labels for w, and for w' what all images were last believed to be, every 5 steps."""
    data = build_data(composed(*TAILS))
    data.setup("fit")
    of_labels, of_pseudo_labels = weights(data.labeled_per_class.double()), torch.ones(10)
    seen: dict[int, torch.Tensor] = {}
    steps = taught = balanced = 0

    def rule(_: SemiSupervisedModule, batch: Batch, outputs: Mapping[str, Output]) -> torch.Tensor:
        nonlocal steps, taught, balanced, of_pseudo_labels
        p = outputs["weak"].logits.detach().softmax(1)
        confidence, label = p.max(1)
        above = (confidence >= 0.95).float()
        weight = above * of_pseudo_labels[label]
        steps, taught = steps + 1, taught + int(above.sum())
        balanced += int(((weight - above).abs() > 0.1).sum())
        now = torch.eye(10)[label] if counts == "hard" else p
        seen.update(zip(batch.image.tolist(), now.double(), strict=True))
        if steps % EVERY == 0:
            of_pseudo_labels = weights(torch.stack([*seen.values()]).sum(0).clamp(min=1))
        lesson = (weight * cross_entropy(outputs["strong"].logits, label, reduction="none")).mean()
        labeled = of_labels[batch.label] * cross_entropy(outputs["labeled"].logits, batch.label, reduction="none")
        return labeled.mean() + lesson

    words = (f"balance.refresh_every={EVERY}", f"balance.counts={counts}")
    # Soft counts are remembered in half precision.
    assert_follows(rule, "method=saw", *TAILS, *words, steps=number, close=1e-5 if counts == "hard" else 1e-4)
    assert taught > 50
    assert balanced > 20


def test_where_all_classes_are_alike_it_is_fixmatch() -> None:
    """As many labels of each, and no predictions counted yet. A mean of weights of 1 is summed in another order."""
    method, batches = module_and_batches("method=saw", "balance.refresh_every=1000", "threshold=0.2")
    other, _ = module_and_batches("method=fixmatch", "threshold=0.2")
    for batch in batches:
        ours, theirs = (each.learn_from_all(batch, each.weighting) for each in (method, other) if each.weighting)
        assert ours["unlabeled_loss"].equal(theirs["unlabeled_loss"])
        assert gradient(ours["unlabeled_loss"], method).equal(gradient(theirs["unlabeled_loss"], other))
        torch.testing.assert_close(ours["loss"], theirs["loss"], rtol=1e-6, atol=0)
        torch.testing.assert_close(gradient(ours["loss"], method), gradient(theirs["loss"], other), rtol=0, atol=1e-6)
    assert (ours["weight"] > 0).any()


def test_it_jumps_as_published_and_its_smooth_version_does_not() -> None:
    assert largest_jump("weak", VIEWS, "method=saw") > LARGE
    assert largest_jump("weak", VIEWS, "method=saw", "shape=linear", SOFT, "smooth=strict") < SMALL


def test_below_one_half_weights_by_class_jump_also_with_a_soft_target() -> None:
    low = ("method=saw", "shape=linear", SOFT, "threshold=0.2", "target=soft")
    assert largest_jump("weak", VIEWS, *low) > LARGE
    assert largest_jump("weak", VIEWS, *low, "score=margin", "smooth=strict") < SMALL
    with pytest.raises(ConfigError, match=r"where a weight by class jumps at ties: use threshold_floor=0\.5"):
        build_method(composed(*low, "smooth=strict"))


def test_what_is_not_smooth_is_refused_with_the_way_out() -> None:
    with pytest.raises(ConfigError, match=r"counts the labels of images: use balance\.counts=soft"):
        build_method(composed("method=saw", "shape=linear", "smooth=strict"))


def test_balance_without_a_lesson_has_no_effect_and_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"balance weighs the lesson, and method=mixmatch has none"):
        check(composed("method=mixmatch", "balance=classes"))
    with pytest.raises(ConfigError, match=r"balance would have no effect: method=supervised"):
        check(composed("method=supervised", "balance=classes"), ["balance"])


@pytest.mark.parametrize("words", [(), (SOFT,)])
def test_a_step_never_waits_for_the_device(words: tuple[str, ...]) -> None:
    assert not waits("method=saw", *words)


def test_its_memory_needs_whole_steps() -> None:
    assert_needs_whole_steps("method=saw")


def test_a_resumed_run_continues_as_if_it_had_not_stopped() -> None:
    assert_resumes("method=saw", "balance.refresh_every=2", "threshold=0.2")
    assert_resumes("method=saw", SOFT, "balance.refresh_every=2", "threshold=0.2")
