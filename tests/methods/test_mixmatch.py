from collections.abc import Mapping

import torch
from torch.nn.functional import cross_entropy, one_hot

from smoothpl.data import Batch
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.pseudo.mixing import Mix
from tests.support.method_steps import assert_follows, module_and_batches

STEPS = 100


def sharpened(probabilities: torch.Tensor) -> torch.Tensor:
    return probabilities**2 / (probabilities**2).sum(dim=1, keepdim=True)  # temperature 1/2


def test_mixed_images_learn_mixed_guesses() -> None:
    """q = sharpen((p_w + p_w2) / 2), all of [l, w, w2] mixed; CE on mixed labels + 75 r squared distance, r to 1/64."""
    done = 0

    def rule(module: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal done
        guess = sharpened((seen["weak"].logits.softmax(1) + seen["weak2"].logits.softmax(1)) / 2)
        targets = torch.cat([one_hot(batch.label, 10).float(), guess, guess])
        assert module.mix is not None
        weight, partner = module.mix.weights(batch, len(targets))
        mixed = weight[:, None] * targets + (1 - weight[:, None]) * targets[partner]
        number = len(batch.label)
        logits = torch.cat([seen["mixed_weak"].logits, seen["mixed_weak2"].logits])
        ramp, done = min(1, done / STEPS * 64), done + 1
        squared = ((logits.softmax(1) - mixed[number:]) ** 2).mean()
        return cross_entropy(seen["mixed_labeled"].logits, mixed[:number]) + 75 * ramp * squared

    assert_follows(rule, "method=mixmatch", steps=STEPS)


def test_images_are_mixed_as_their_targets_are() -> None:
    module, batches = module_and_batches("method=mixmatch")
    batch = next(batches)
    assert module.mix is not None
    whole = torch.cat([batch.labeled, batch.weak, batch.views["weak2"]])
    weight, partner = module.mix.weights(batch, len(whole))
    expected = weight.view(-1, 1, 1, 1) * whole + (1 - weight.view(-1, 1, 1, 1)) * whole[partner]
    views = {"labeled": batch.labeled, "weak": batch.weak, "weak2": batch.views["weak2"]}
    torch.testing.assert_close(torch.cat([*module.mix.images(batch, views).values()]), expected)
    assert sorted(partner.tolist()) == list(range(len(whole)))
    assert weight.min() >= 0.5
    assert weight.max() <= 1


def test_an_image_that_stays_itself_is_taught_what_it_was_guessed() -> None:
    """At weight 1 MixMatch is a Pi-Model with a sharpened mean of both views for its target."""
    module, batches = module_and_batches("method=mixmatch")
    batch = next(batches)
    mix = module.mix
    assert isinstance(mix, Mix)
    mix.quantile.fill_(1.0)
    views = {"labeled": batch.labeled, "weak": batch.weak, "weak2": batch.views["weak2"]}
    for name, images in mix.images(batch, views).items():
        assert images.equal(views[name.removeprefix("mixed_")])
