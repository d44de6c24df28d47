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
from tests.support.method_paths import LARGE, SMALL, largest_jumps
from tests.support.method_promises import assert_needs_whole_steps, waits
from tests.support.method_steps import assert_follows, gradient, module_and_batches

STEPS = 100
SURE = "terms.pairs.threshold=0.5"
SMOOTH = ("shape=linear", "smooth=strict")


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_images_of_one_pseudo_label_attract_each_other_by_their_confidences(threshold: float | None) -> None:
    """L_FM + mean over anchors of -sum_j W log softmax / sum_j W over g of (s, s2) at 0.07,
    W = sigma_i sigma_j 1[same label], 1 for one's other view."""
    taught = attracted = 0

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal taught, attracted
        sigma, label = seen["weak"].logits.detach().softmax(1).max(1)
        lesson = (sigma >= 0.95) * cross_entropy(seen["strong"].logits, label, reduction="none")
        taught += int((sigma >= 0.95).sum())
        g = torch.cat([seen["strong"].heads["projection"], seen["simclr"].heads["projection"]])
        number, anchors = len(label), []
        for i in range(2 * number):
            others = [j for j in range(2 * number) if j != i]
            learned = (g[others] @ g[i] / 0.07).log_softmax(0)
            a, b = i % number, torch.tensor(others) % number
            weight = sigma[a] * sigma[b] * (label[a] == label[b])
            if threshold is not None:
                weight = weight * (sigma[a] >= threshold) * (sigma[b] >= threshold)
            weight[b == a] = 1
            attracted += int((weight > 0).sum()) - 1
            anchors.append(-(weight * learned).sum() / weight.sum())
        return cross_entropy(seen["labeled"].logits, batch.label) + lesson.mean() + torch.stack(anchors).mean()

    words = [] if threshold is None else [f"terms.pairs.threshold={threshold}"]
    assert_follows(rule, "method=ccssl", "unlabeled_ratio=3", *words, steps=STEPS if threshold is None else 10)
    assert attracted
    assert taught or threshold


def test_without_pairs_it_is_fixmatch() -> None:
    method, batches = module_and_batches("method=ccssl", "terms.pairs.weight=0", "threshold=0.2")
    words = ("views_wanted=[simclr]", "extra_heads=[projection]")  # the same images in the batch
    other, _ = module_and_batches("method=fixmatch", "threshold=0.2", *words)
    for batch in batches:
        ours, theirs = (each.learn_from_all(batch, each.weighting) for each in (method, other) if each.weighting)
        assert ours["loss"].equal(theirs["loss"])
        assert gradient(ours["loss"], method).equal(gradient(theirs["loss"], other))
    assert (ours["weight"] > 0).any()


def test_the_threshold_and_the_ties_of_its_pairs_jump_and_those_of_its_smooth_versions_do_not() -> None:
    published = largest_jumps("method=ccssl")
    assert published["logits"] > LARGE
    assert published["embeddings"] > LARGE
    ramp = largest_jumps("method=ccssl", "shape=linear")
    assert ramp["logits"] < SMALL
    assert ramp["embeddings"] > LARGE  # the threshold of the lesson is not that of the pairs
    with pytest.raises(ConfigError, match="pairs of hard labels jump where two classes tie"):
        build_method(composed("method=ccssl", *SMOOTH))
    for word in ("terms.pairs.pairs=soft", SURE):
        assert max(largest_jumps("method=ccssl", *SMOOTH, word).values()) < SMALL


def test_a_step_never_waits_for_the_device() -> None:
    assert not waits("method=ccssl", steps=1)


def test_its_pairs_need_whole_steps() -> None:
    assert_needs_whole_steps("method=ccssl")
