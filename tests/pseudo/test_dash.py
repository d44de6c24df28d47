import math
from typing import Literal

import pytest
import torch

from smoothpl.pseudo import Beliefs, LossSchedule, Power, Soft, Step, Weighting, probabilities, pseudo_labels
from smoothpl.pseudo.labels import from_probabilities
from tests.support.steps import CLASSES, random_steps


def test_dash_is_the_published_rule_over_hundreds_of_steps() -> None:
    """Loss of the weak view against its own pseudo-label, soft until rho is down, at most rho."""
    policy = LossSchedule(refresh_every=10, gamma=1.27, rho_min=0.05)
    weighting = Weighting(policy, Step())
    start = None
    for step, beliefs in enumerate(random_steps(300, sharpness=6.0)):
        if start is None:
            start = -sum(math.log(beliefs.labeled[i, c]) for i, c in enumerate(beliefs.label.tolist())) / 8
        rho = max(1.0001 * 1.27 ** -(step // 10) * start, 0.05)
        weighting.see(beliefs)
        weight = weighting(beliefs.unlabeled)
        taught = Soft()(weighting.lessons(beliefs.unlabeled))
        rows = beliefs.unlabeled.probabilities.tolist()
        for row, w, target in zip(rows, weight.tolist(), taught.tolist(), strict=True):
            hot = [p**2 / sum(q**2 for q in row) for p in row]  # temperature 1/2
            if rho == 0.05:
                hot = [float(p == max(row)) for p in row]
            loss = -sum(h * math.log(max(p, 1e-12)) for h, p in zip(hot, row, strict=True))
            assert abs(loss - rho) < 1e-4 or w == float(loss <= rho)
            assert max(abs(a - b) for a, b in zip(hot, target, strict=True)) < 1e-4


def test_the_start_is_the_loss_of_labeled_images_and_of_no_others() -> None:
    policy = LossSchedule(refresh_every=1)
    labeled = probabilities(torch.zeros(4, CLASSES))
    policy.see(Beliefs(pseudo_labels(torch.randn(3, CLASSES)), labeled, torch.tensor([0, 1, 2, 3])))
    assert math.isclose(policy.start.item(), math.log(CLASSES), rel_tol=1e-5)


def test_with_a_ramp_the_weight_grows_from_0_at_the_threshold() -> None:
    policy = LossSchedule(refresh_every=1)
    weighting = Weighting(policy, Power())
    for beliefs in random_steps(6):
        weighting.see(beliefs)
    weight = weighting(beliefs.unlabeled)
    score, threshold = policy.taught(beliefs.unlabeled).confidence, math.exp(-policy.rho.item())
    torch.testing.assert_close(weight, ((score - threshold) / (1 - threshold)).clamp(min=0))
    assert 0 < (weight > 0).sum() < len(weight)


def test_the_continuous_schedule_meets_the_published_one_at_its_steps_and_goes_down_evenly_between() -> None:
    stepwise, continuous = LossSchedule(refresh_every=10), LossSchedule(refresh_every=10, schedule="continuous")
    before = None
    for step, beliefs in enumerate(random_steps(300)):
        stepwise.see(beliefs)
        continuous.see(beliefs)
        if step % 10 == 0:
            torch.testing.assert_close(continuous.rho, stepwise.rho)
        if before is not None:
            ratio = continuous.rho / before
            assert math.isclose(ratio, 1.27**-0.1, rel_tol=1e-4) or continuous.hard
        before = continuous.rho


def test_on_the_continuous_schedule_soft_labels_become_hard_without_a_jump() -> None:
    """What a step teaches, and how much, moves by little from one step to the next, for images that stay the same."""
    policy = LossSchedule(refresh_every=100, schedule="continuous")
    weighting, watched = Weighting(policy, Power()), next(random_steps(1, sharpness=6.0)).unlabeled
    before, was_soft = None, False
    for beliefs in random_steps(2000):
        weighting.see(beliefs)
        taught = weighting(watched).unsqueeze(1) * Soft()(weighting.lessons(watched))
        if before is not None:
            assert (taught - before).abs().max() < 0.02
        before, was_soft = taught, was_soft or not policy.hard
    assert was_soft
    assert policy.hard


@pytest.mark.parametrize("schedule", ["stepwise", "continuous"])
@pytest.mark.parametrize("shape", [Step(), Power()])
@pytest.mark.parametrize("score", ["confidence", "margin"])
def test_in_the_warm_up_only_labels_teach_and_then_everything_begins(
    schedule: str, shape: Step | Power, score: Literal["confidence", "margin"]
) -> None:
    """As if the steps of the warm-up had never been."""
    late, at_once = (LossSchedule(10, schedule, warm_up_steps=steps) for steps in (30, 0))
    waiting, other = Weighting(late, shape, score=score), Weighting(at_once, shape, score=score)
    counted = 0.0
    for step, beliefs in enumerate(random_steps(150, sharpness=6.0)):
        waiting.see(beliefs)
        weight = waiting(beliefs.unlabeled)
        if step < 30:
            assert not weight.any()
            continue
        other.see(beliefs)
        assert torch.equal(weight, other(beliefs.unlabeled))
        assert torch.equal(late.rho, at_once.rho)
        counted += weight.sum().item()
    assert late.start == at_once.start > 0
    assert counted > 0


def test_in_the_warm_up_the_weight_has_a_gradient_of_zero() -> None:
    """For the factor loss, which differentiates the weight."""
    weighting = Weighting(LossSchedule(10, warm_up_steps=2), Power(0.5))
    beliefs = next(random_steps(1, sharpness=6.0))
    weighting.see(beliefs)
    probability = beliefs.unlabeled.probabilities.requires_grad_()
    (gradient,) = torch.autograd.grad(weighting(from_probabilities(probability)).sum(), probability)
    assert not gradient.any()


@pytest.mark.parametrize("steps", [-1, 0.5, True])
def test_a_warm_up_is_a_number_of_steps(steps: float) -> None:
    with pytest.raises(ValueError, match=rf"policy.warm_up_steps={steps} must be a whole number of steps"):
        LossSchedule(10, warm_up_steps=steps)  # type: ignore[arg-type]


def test_another_schedule_is_refused() -> None:
    with pytest.raises(ValueError, match=r"policy.schedule=random must be stepwise \(Dash\) or continuous"):
        LossSchedule(refresh_every=1, schedule="random")
