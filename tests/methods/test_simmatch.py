from collections.abc import Mapping

import torch
from torch.nn.functional import cross_entropy, normalize

from smoothpl.data import Batch
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from tests.support.method_paths import LARGE, SMALL, largest_jumps
from tests.support.method_promises import assert_needs_whole_steps, waits
from tests.support.method_steps import assert_follows, gradient, module_and_batches

STEPS, LABELS = 100, 40


def test_weak_views_are_compared_with_labeled_images_and_strong_ones_learn_that() -> None:
    """a = softmax(g_w . bank / 0.1), q = 0.9 p + 0.1 (a summed by label), b ~ a p[label], p by the last 32 means;
    CE_l + mean 1[max q >= 0.95] CE(q, z_s) + mean CE(b, softmax(g_s . bank / 0.1)), at last unit(0.7 old + 0.3 g_l)."""
    means: list[torch.Tensor] = []
    bank: dict[int, tuple[torch.Tensor, int]] = {}
    taught = compared = 0

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal taught, compared
        g = {view: each.heads["projection"] for view, each in seen.items()}
        p = seen["weak"].logits.detach().softmax(1)
        means.append(p.mean(0))
        p = p / (torch.stack(means[-32:]).mean(0) + 1e-6)
        q = p = p / p.sum(1, keepdim=True)
        instance = torch.zeros(())
        if len(bank) == LABELS:
            embeddings = torch.stack([each for each, _ in bank.values()])
            labels = [label for _, label in bank.values()]
            a = (g["weak"].detach() @ embeddings.T / 0.1).softmax(1)
            summed = torch.stack([a[:, [each == c for each in labels]].sum(1) for c in range(10)], dim=1)
            q = 0.9 * p + 0.1 * summed
            b = a * p[:, labels]
            b = b / b.sum(1, keepdim=True)
            instance = cross_entropy(g["strong"] @ embeddings.T / 0.1, b)
            compared += 1
        assert batch.labeled_image is not None
        for image in {*batch.labeled_image.tolist()}:
            own = g["labeled"].detach()[batch.labeled_image == image].mean(0)
            label = int(batch.label[batch.labeled_image == image][0])
            old = bank[image][0] if image in bank else torch.zeros_like(own)
            bank[image] = (normalize(0.7 * old + 0.3 * own, dim=0), label)
        above = (q.amax(1) >= 0.95).float()
        taught += int(above.sum())
        lesson = (above * cross_entropy(seen["strong"].logits, q, reduction="none")).mean()
        return cross_entropy(seen["labeled"].logits, batch.label) + lesson + instance

    assert_follows(rule, "method=simmatch", steps=STEPS)
    assert taught > 20
    assert compared > STEPS / 3


def test_without_bank_and_instances_it_is_what_comatch_begins_with() -> None:
    """Aligned by a queue, softly taught."""
    off = ("refine.labeled_bank.keep=1.0", "terms.instance.weight=0")
    method, batches = module_and_batches("method=simmatch", "threshold=0.2", "batch_size=40", *off)
    width = ("extra_heads=[projection]", "extra_heads.projection.head.width=128")
    words = ("align=queue", "target=soft", "threshold=0.2", "batch_size=40", *width)
    other, _ = module_and_batches("method=fixmatch", *words)
    for batch in batches:
        ours, theirs = (each.learn_from_all(batch, each.weighting) for each in (method, other) if each.weighting)
        assert ours["loss"].equal(theirs["loss"])
        assert gradient(ours["loss"], method).equal(gradient(theirs["loss"], other))
    assert (ours["weight"] > 0).any()


def test_its_threshold_jumps_and_that_of_its_smooth_version_does_not() -> None:
    published = largest_jumps("method=simmatch", "threshold=0.8")
    assert published["logits"] > LARGE
    assert published["embeddings"] < SMALL  # what is similar has no threshold
    assert max(largest_jumps("method=simmatch", "threshold=0.8", "shape=linear", "smooth=strict").values()) < SMALL


def test_a_step_never_waits_for_the_device() -> None:
    assert not waits("method=simmatch")


def test_its_memory_needs_whole_steps() -> None:
    assert_needs_whole_steps("method=simmatch")
