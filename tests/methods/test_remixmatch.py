from collections.abc import Mapping

import torch
from torch.nn.functional import cross_entropy, one_hot

from smoothpl.data import Batch
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.run.build_method import build_method
from smoothpl.terms import Term
from tests.support.composing import composed
from tests.support.method_promises import assert_needs_whole_steps, waits
from tests.support.method_steps import assert_follows, gradient, module_and_batches

STEPS = 100


def test_aligned_guesses_are_taught_to_mixed_and_to_strong_images_and_turns_are_told() -> None:
    """q = sharpen(DA(p_w)), DA by the 128 means before, which began uniform, towards the labels' frequencies;
    CE(X'_l) + 1.5 r CE(X'_u) + 0.5 r CE(q, z_s) + 2 CE(turn), all of [l, s, w] mixed, r to 1/8."""
    means = [torch.full((10,), 0.1)] * 128
    frequencies = torch.full((10,), 0.1)  # of 40 labels, 4 each

    def rule(module: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        p = seen["weak"].logits.detach().softmax(1)
        q = p * (frequencies + 1e-6) / (torch.stack(means[-128:]).mean(0) + 1e-6)
        q = (q / q.sum(1, keepdim=True)) ** 2
        q = q / q.sum(1, keepdim=True)
        ramp = min(1, (len(means) - 128) / STEPS * 8)
        means.append(p.mean(0))
        targets = torch.cat([one_hot(batch.label, 10).float(), q, q])
        assert module.mix is not None
        weight, partner = module.mix.weights(batch, len(targets))
        mixed = weight[:, None] * targets + (1 - weight[:, None]) * targets[partner]
        number = len(batch.label)
        unlabeled = torch.cat([seen["mixed_strong"].logits, seen["mixed_weak"].logits])
        return (
            cross_entropy(seen["mixed_labeled"].logits, mixed[:number])
            + 1.5 * ramp * cross_entropy(unlabeled, mixed[number:])
            + 0.5 * ramp * cross_entropy(seen["strong"].logits, q)
            + 2 * cross_entropy(seen["turned"].heads["rotation"], batch.chance["turn"])
        )

    assert_follows(rule, "method=remixmatch", steps=STEPS)


def test_chance_has_a_number_for_every_image_that_is_mixed() -> None:
    module, batches = module_and_batches("method=remixmatch")
    batch = next(batches)
    assert module.mix is not None
    assert batch.strong is not None
    views = {"labeled": batch.labeled, "strong": batch.strong, "weak": batch.weak}
    whole = torch.cat([*views.values()])
    assert batch.chance["mix"].shape == (2, len(whole))
    weight, partner = module.mix.weights(batch, len(whole))
    assert sorted(partner.tolist()) == list(range(len(whole)))
    weight = weight.view(-1, 1, 1, 1)
    mixed = torch.cat([*module.mix.images(batch, views).values()])
    torch.testing.assert_close(mixed, weight * whole + (1 - weight) * whole[partner])


def test_without_alignment_rotation_and_the_lesson_of_strong_views_it_is_mixmatch_with_cross_entropy() -> None:
    method, batches = module_and_batches("method=remixmatch", "align=none", "terms.rotation.weight=0")
    words = ("mix=remixmatch", "teacher=live", "distance=cross_entropy", "terms.mixed_lesson.weight=1.5")
    strong = ("views_wanted=[mix]", "learned_view=strong", "unlabeled_weight=1", "ramp.until=0.125")
    other, _ = module_and_batches("method=mixmatch", *words, *strong)
    for module in (method, other):
        lesson = module.terms["lesson"]
        assert isinstance(lesson, Term)
        lesson.weight = 0
    for batch in batches:
        ours, theirs = (each.learn_from_all(batch, each.weighting) for each in (method, other) if each.weighting)
        assert ours["loss"].equal(theirs["loss"])
        shared = gradient(theirs["loss"], other)
        assert gradient(ours["loss"], method)[: len(shared)].equal(shared)  # the rotation head comes last
    assert ours["mixed_lesson_loss"] > 0


def test_it_is_smooth_as_published() -> None:
    build_method(composed("method=remixmatch", "smooth=strict"))


def test_a_step_never_waits_for_the_device() -> None:
    assert not waits("method=remixmatch")


def test_its_memory_and_its_mixtures_need_whole_steps() -> None:
    assert_needs_whole_steps("method=remixmatch")
