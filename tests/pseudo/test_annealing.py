import math
from collections.abc import Callable

import pytest
import torch

from smoothpl.losses import labeled_loss
from smoothpl.pseudo import Annealing, Fixed, Gaussian, Power, Running, Step, Weighting
from smoothpl.run.build_method import build_weighting
from tests.support.composing import composed
from tests.support.steps import CLASSES, random_steps

STEPS = 300
PUBLISHED: dict[str, Callable[[float], float]] = {
    "linear": lambda time: time,
    "log": lambda time: 1 - math.exp(-5 * time),
    "exp": lambda time: math.exp(5 * (time - 1)),
}


@pytest.mark.parametrize("schedule", PUBLISHED)
def test_udas_annealing_is_the_published_rule_over_hundreds_of_steps(schedule: str) -> None:
    """A labeled image is left out when its own class has more than eta_t, on its way from 1 / C to 1."""
    weighting = build_weighting(composed("method=uda", f"annealing={schedule}", f"max_steps={STEPS}"))
    held_back = []
    for step, beliefs in enumerate(random_steps(STEPS)):
        eta = PUBLISHED[schedule](step / STEPS) * (1 - 1 / CLASSES) + 1 / CLASSES
        weighting.see(beliefs)
        weight = weighting.of_labeled(beliefs.labeled, beliefs.label)
        assert weight is not None
        own = beliefs.labeled[range(8), beliefs.label]
        near = (own - eta).abs() < 1e-5
        assert torch.equal(weight[~near] > 0, (own < eta)[~near])
        held_back.append((weight == 0).float().mean().item())
        if not near.any():  # the loss, as published: a mean over those that are left
            losses = -own.log()
            kept = [loss for loss, p in zip(losses.tolist(), own.tolist(), strict=True) if p < eta]
            found = labeled_loss(beliefs.labeled.log(), beliefs.label, weight)
            assert found.item() == pytest.approx(sum(kept) / max(len(kept), 1), abs=1e-5)
    assert sum(held_back[:100]) > sum(held_back[-100:])


def test_with_a_ramp_the_weight_falls_to_0_at_eta() -> None:
    weighting = Weighting(Fixed(0.8), Power(), annealing=Annealing("linear", num_classes=2, max_steps=10))
    beliefs = next(random_steps(1))
    for _ in range(6):  # eta is 1/2 + 5/10 * 1/2
        weighting.see(beliefs)
    own = torch.tensor([0.0, 0.375, 0.75, 0.9])
    weight = weighting.of_labeled(torch.stack([own, 1 - own], dim=1), torch.zeros(4, dtype=torch.long))
    torch.testing.assert_close(weight, torch.tensor([1.0, 0.5, 0.0, 0.0]) * 4 / 1.5)  # a weighted mean


def test_without_annealing_every_labeled_image_counts() -> None:
    beliefs = next(random_steps(1))
    assert Weighting(Fixed(0.8), Step()).of_labeled(beliefs.labeled, beliefs.label) is None


def test_the_labeled_loss_is_a_mean_over_all_images_also_those_held_back() -> None:
    logits, label = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])
    weight = torch.tensor([1.0, 0.0, 0.5, 0.0])
    by_hand = sum(w * -logits[i].log_softmax(0)[label[i]] for i, w in enumerate(weight)) / 4
    torch.testing.assert_close(labeled_loss(logits, label, weight), by_hand)
    torch.testing.assert_close(labeled_loss(logits, label, torch.ones(4)), labeled_loss(logits, label))


def test_the_step_reached_is_in_the_checkpoint() -> None:
    weighting = Weighting(Fixed(0.8), Step(), annealing=Annealing("exp", CLASSES, STEPS))
    weighting.see(next(random_steps(1)))
    assert weighting.state_dict()["annealing.steps"] == 1


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"annealing.schedule=cubic must be one of linear, exp, log"):
        Annealing("cubic", CLASSES, STEPS)
    with pytest.raises(ValueError, match=r"annealing with shape=gaussian .* annealing=none"):
        Weighting(Running(CLASSES), Gaussian(), annealing=Annealing("exp", CLASSES, STEPS))
