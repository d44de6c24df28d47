"""What the program says of the smoothness of a method, against what happens when logits move in small steps."""

from itertools import product

import pytest
import torch
from hydra.utils import instantiate

from smoothpl.build import build_weighting
from smoothpl.errors import ConfigError
from smoothpl.pseudo import (
    Fairness,
    Fixed,
    Hard,
    Power,
    PseudoLabels,
    Sharpened,
    Soft,
    Step,
    Weighting,
    obstacles,
    pseudo_labels,
)
from smoothpl.pseudo.labels import one_hot
from tests.composing import composed, options
from tests.pseudo.steps import CLASSES, random_steps

# The variants of smooth with other shapes have the same parts; their shapes are tested below.
METHODS = [method for method in options("method") if "supervised" not in method and "smooth_" not in method]
EXTRAS = ["", "shape=linear", "target=soft"]
WAYS_OUT = ("threshold_floor=0.5", "score=margin", "target=soft", "target=sharpened")
PAIRS = [f"shape=linear {way_out}" for way_out in WAYS_OUT]


def lessons(weighting: Weighting, target: object, pseudo: PseudoLabels) -> torch.Tensor:
    """weight * target, (U, C): all of the gradient of the unlabeled loss that the weak view decides."""
    taught = target(weighting.lessons(pseudo))  # type: ignore[operator]
    taught = one_hot(taught, CLASSES) if taught.dim() == 1 else taught
    return weighting(pseudo).unsqueeze(1) * taught


def largest_jump(weighting: Weighting, target: object) -> float:
    """Along straight ways between confident logits, through thresholds and ties, in steps of 1/10,000."""
    weighting.prepare(100)
    for beliefs in random_steps(100):
        weighting.see(beliefs)
        weighting.observe(beliefs.unlabeled, weighting(beliefs.unlabeled))
    chance = torch.Generator().manual_seed(3)
    way = torch.linspace(0, 1, 10_001, dtype=torch.float64).unsqueeze(1)
    worst = 0.0
    for first, second in product(range(2), range(3, 5)):
        ends = 0.3 * torch.randn(2, CLASSES, generator=chance, dtype=torch.float64)
        ends[0, first] += 7
        ends[1, second] += 7
        pseudo = pseudo_labels((1 - way) * ends[0] + way * ends[1], torch.zeros(len(way), dtype=torch.long))
        worst = max(worst, lessons(weighting, target, pseudo).diff(dim=0).abs().max().item())
    return worst


@pytest.mark.parametrize("extra", [*EXTRAS, *PAIRS])
@pytest.mark.parametrize("method", METHODS)
def test_what_is_called_smooth_does_not_jump_and_what_is_not_does(method: str, extra: str) -> None:
    config = composed(f"method={method}", *extra.split(), "data=digits")
    try:
        weighting = build_weighting(config)
    except ConfigError:
        pytest.skip("these parts do not go together")
    target = instantiate(config.target)
    found = [reason for reason in obstacles(weighting, target) if reason != weighting.policy.jumps]
    jump = largest_jump(weighting, target)
    if not found:
        assert jump < 0.02
    elif isinstance(weighting.policy, Fixed) and "shape jumps" in found[0]:  # the others may be elsewhere by now
        assert jump > 0.1


@pytest.mark.parametrize(
    ("weighting", "target", "complaint"),
    [
        (Weighting(Fixed(0.95), Step()), Hard(), "the shape jumps at the threshold: use shape=linear"),
        (Weighting(Fixed(0.3), Power()), Hard(), "below 1/2, where a hard target jumps at ties"),
    ],
)
def test_every_obstacle_is_named_with_its_way_out(weighting: Weighting, target: Hard, complaint: str) -> None:
    assert any(complaint in reason for reason in obstacles(weighting, target))
    assert largest_jump(weighting, target) > 0.1


def test_a_count_of_predictions_is_an_obstacle_until_it_is_soft_and_ties_weigh_nothing() -> None:
    hard, soft = Fairness(CLASSES), Fairness(CLASSES, counts="soft")
    assert obstacles(Weighting(Fixed(0.95), Power()), Soft(), hard) == [
        "fairness.counts=hard counts predictions: use fairness.counts=soft"
    ]
    assert obstacles(Weighting(Fixed(0.95), Power()), Soft(), soft) == []
    (reason,) = obstacles(Weighting(Fixed(0.3), Power()), Soft(), soft)
    assert "below 1/2" in reason


@pytest.mark.parametrize("mu", [0.25, 0.5, 1, 3])
@pytest.mark.parametrize("target", [Hard(), Soft(), Sharpened()])
def test_the_papers_method_is_smooth_for_every_power(mu: float, target: object) -> None:
    assert obstacles(Weighting(Fixed(0.95), Power(mu)), target) == []  # type: ignore[arg-type]


def test_strict_refuses_what_is_not_smooth_and_says_why() -> None:
    with pytest.raises(ConfigError, match=r"smooth=strict, but the loss is not C1: the shape jumps at the threshold"):
        build_weighting(composed("method=fixmatch", "smooth=strict"))
    build_weighting(composed("method=smooth", "smooth=strict"))
    build_weighting(composed("method=flexmatch", "shape=linear", "score=margin", "policy.counts=soft", "smooth=strict"))
