import math

import torch

from smoothpl.pseudo import Beliefs, LossSchedule, Power, Soft, Step, Weighting, probabilities, pseudo_labels
from tests.pseudo.steps import CLASSES, random_steps


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
    weighting = Weighting(LossSchedule(refresh_every=1), Power())
    for beliefs in random_steps(3):
        weighting.see(beliefs)
    weight = weighting(beliefs.unlabeled)
    assert ((weight >= 0) & (weight <= 1)).all()
