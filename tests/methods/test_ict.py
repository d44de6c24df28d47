from collections.abc import Mapping
from copy import deepcopy

import torch
from torch.nn.functional import cross_entropy

from smoothpl.data import Batch
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from tests.support.method_steps import assert_follows

STEPS = 60


def test_the_mixture_of_two_images_learns_the_mixture_of_what_the_average_says() -> None:
    """CE_l + 100 r mean (p(m u_i + (1 - m) u_j) - (m p'_i + (1 - m) p'_j))^2, one m for a step, p' by the average."""
    done = 0

    def rule(module: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal done
        with torch.no_grad():
            said = deepcopy(module.average).train()(batch.weak).softmax(1)
        assert module.mix is not None
        weight, partner = module.mix.weights(batch, len(said))
        assert len({*weight.tolist()}) == 1
        mixed = weight[0] * said + (1 - weight[0]) * said[partner]
        ramp, done = min(1, done / STEPS / 0.4), done + 1
        squared: torch.Tensor = ((seen["mixed_weak"].logits.softmax(1) - mixed) ** 2).mean()
        return cross_entropy(seen["labeled"].logits, batch.label) + 100 * ramp * squared

    assert_follows(rule, "method=ict", steps=STEPS)
