from collections.abc import Mapping
from functools import partial
from itertools import pairwise

import pytest
import torch
from torch.optim import LBFGS

from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.pseudo.distances import Alpha, KullbackLeibler
from smoothpl.pseudo.power_mean import PowerMean
from smoothpl.run.build_method import build_method
from tests.support.composing import composed
from tests.support.method_checks import LARGE, SMALL, assert_parts_make_the_whole, assert_same_losses, largest_jump
from tests.support.method_promises import waits
from tests.support.method_steps import assert_follows

CHANCE = torch.Generator().manual_seed(0)
WEAK, ONE, TWO = (2 * torch.randn(6, 4, generator=CHANCE, dtype=torch.float64) for _ in range(3))
OUTPUTS = {"strong": Output(ONE.float()), "strong2": Output(TWO.float())}
P, Q, R = (each.softmax(1).float() for each in (WEAK, ONE, TWO))
COMPOSED = ("method=fixmatch", "refine=[power_mean]", "distance=alpha", "target=soft")


def mean(alpha: float, share: float = 0.4) -> torch.Tensor:
    return PowerMean(alpha, share, ("strong", "strong2")).refine(P, OUTPUTS, None)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.5, 2.0])
def test_it_is_the_mean_of_powers(alpha: float) -> None:
    power = 1 - alpha
    gamma = (0.4 * P**power + 0.3 * Q**power + 0.3 * R**power) ** (1 / power)
    torch.testing.assert_close(mean(alpha), gamma / gamma.sum(1, keepdim=True))


def test_at_one_it_is_the_geometric_mean_and_continuous_there() -> None:
    geometric = P**0.4 * Q**0.3 * R**0.3
    torch.testing.assert_close(mean(1.0), geometric / geometric.sum(1, keepdim=True))
    torch.testing.assert_close(mean(1.001), mean(1.0), rtol=0.01, atol=1e-3)


def test_with_the_whole_share_it_is_the_weak_view() -> None:
    torch.testing.assert_close(mean(1.5, share=1.0), P)
    torch.testing.assert_close(PowerMean(1.5).refine(P, None, None), P)


@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_nothing_is_nearer_to_all_views_by_the_divergence(alpha: float) -> None:
    distance = KullbackLeibler() if alpha == 1 else Alpha(alpha)
    gamma = torch.zeros(6, 4, dtype=torch.float64, requires_grad=True)
    solver = LBFGS([gamma], max_iter=200, tolerance_grad=1e-10, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        target = gamma.softmax(1)
        near = sum(share * distance(each, target) for share, each in ((0.4, WEAK), (0.3, ONE), (0.3, TWO)))
        assert isinstance(near, torch.Tensor)
        solver.zero_grad()
        near.sum().backward()  # type: ignore[no-untyped-call]
        return near.sum()

    solver.step(loss)  # type: ignore[no-untyped-call]
    torch.testing.assert_close(mean(alpha), gamma.detach().softmax(1).float(), atol=1e-3, rtol=1e-2)


def test_a_method_of_such_parts_follows_their_formula() -> None:
    """gamma ~ (p_w^-.5 / 2 + p_s^-.5 / 2)^-2; mean 1[max gamma > tau] (sum gamma^1.5 p_s^-.5 - 1) / .75."""
    taught = 0

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal taught
        p, s = seen["weak"].logits.detach().softmax(1), seen["strong"].logits.softmax(1)
        gamma = (p**-0.5 / 2 + s.detach() ** -0.5 / 2) ** -2
        gamma = gamma / gamma.sum(1, keepdim=True)
        above = (gamma.amax(1) > 0.7).float()
        taught += int(above.sum())
        lesson = (above * ((gamma**1.5 * s**-0.5).sum(1) - 1) / 0.75).mean()
        return torch.nn.functional.cross_entropy(seen["labeled"].logits, batch.label) + lesson

    assert_follows(rule, *COMPOSED, "threshold=0.7", steps=30, scale=4.0)
    assert taught > 20


def test_with_the_whole_share_a_method_is_what_it_is_without() -> None:
    assert_same_losses((*COMPOSED, "refine.power_mean.alpha=1", "refine.power_mean.share=1", "distance=kl"), KL)


KL = ("method=fixmatch", "distance=kl", "target=soft")


def test_it_brings_no_jump_of_its_own() -> None:
    jump = partial(largest_jump, "weak", ("labeled", "weak", "strong"), *COMPOSED, "threshold=0.4")
    assert jump() > LARGE
    assert jump("shape=linear", "smooth=strict") < SMALL


def test_a_step_waits_for_nothing_and_may_come_in_parts() -> None:
    assert not waits(*COMPOSED)
    assert_parts_make_the_whole(*COMPOSED, "threshold=0.4")


def test_larger_powers_trust_the_least_that_is_believed() -> None:
    believed = [float(mean(alpha).amax(1).mean()) for alpha in (0.0, 0.5, 1.0, 1.5, 2.0)]
    assert all(one != other for one, other in pairwise(believed))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"share=2 must lie in \[0, 1\]"):
        PowerMean(share=2)
    with pytest.raises(ConfigError, match=r"views=\[\] must name at least one view"):
        PowerMean(views=())
    with pytest.raises(ConfigError, match=r"refine\.power_mean needs strong2"):
        build_method(composed(*COMPOSED, "refine.power_mean.views=[strong,strong2]"))
