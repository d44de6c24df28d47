"""What the program says about the smoothness of a method, against what happens when logits move in small steps."""

import re
from collections.abc import Iterator
from itertools import product

import pytest
import torch
from hydra.utils import instantiate
from omegaconf import DictConfig

from smoothpl.errors import ConfigError
from smoothpl.pseudo import (
    Beliefs,
    Fairness,
    Fixed,
    Gaussian,
    Hard,
    Power,
    PseudoLabels,
    Running,
    Sharpened,
    Soft,
    Step,
    Target,
    Weighting,
    obstacles,
    probabilities,
    pseudo_labels,
)
from smoothpl.pseudo.equal_shares import EqualShares
from smoothpl.pseudo.labels import one_hot
from smoothpl.pseudo.shapes import jumps
from smoothpl.run.build_method import build_method, build_weighting
from tests.support.composing import build, composed, options
from tests.support.steps import CLASSES, IMAGES, random_steps

# The variants of smooth with other shapes have the same parts; their shapes are tested below.
METHODS = [method for method in options("method") if "supervised" not in method and "smooth_" not in method]
WITHOUT_LEDGER = [method for method in METHODS if method != "darp"]
"""Whose answer is a function of the image alone; a ledger jumps when a step is seen: tests/methods/test_darp.py."""
EXTRAS = ["", "shape=linear", "target=soft"]
WAYS_OUT = ("threshold_floor=0.5", "score=margin", "target=soft", "target=sharpened")
PAIRS = [f"shape=linear {way_out}" for way_out in WAYS_OUT]
MEMORIES = [*product((0.3, 5.0), (0.0, 3.0))]
"""What a network was like that a memory is of: how sure it was, and how far it preferred some classes."""
SMALL, LARGE = 0.005, 0.05
"""Jumps: a smooth loss has none above the first, every other loss has one above the second."""


def lessons(weighting: Weighting, target: Target, pseudo: PseudoLabels) -> torch.Tensor:
    """weight * target, (U, C): all of the gradient of the unlabeled loss that the weak view decides."""
    taught = target(weighting.lessons(pseudo))
    taught = one_hot(taught, CLASSES) if taught.dim() == 1 else taught
    weight = weighting.balanced(weighting(pseudo), weighting.lessons(pseudo))
    return weight.unsqueeze(1) * taught


def steps(sharpness: float, bias: float) -> Iterator[Beliefs]:
    for beliefs in random_steps(40, sharpness=sharpness):
        logits = beliefs.unlabeled.probabilities.log()
        logits[:, 0] += bias
        logits[:, 3] += bias / 2
        labeled = probabilities(sharpness * beliefs.labeled.log())
        yield Beliefs(pseudo_labels(logits, beliefs.unlabeled.image), labeled, label=labeled.argmax(dim=1))


def remember(weighting: Weighting, sharpness: float, bias: float) -> None:
    """Follows such a network for a while."""
    weighting.prepare(IMAGES)
    for part in weighting.modules():
        if hasattr(part, "momentum"):
            part.momentum = 0.9  # type: ignore[assignment]  # as published it would take thousands of steps
    for beliefs in steps(sharpness, bias):
        weighting.see(beliefs)
        weighting.observe(beliefs.unlabeled, weighting(beliefs.unlabeled))
    if isinstance(weighting.policy, EqualShares):  # as if some classes were only ever believed in hardly
        weighting.policy.thresholds.copy_(torch.linspace(0.2, 0.95, CLASSES))


def largest_jump(weighting: Weighting, target: Target) -> float:
    """Along straight ways between confident logits, through thresholds and ties, in steps of 1/10,000."""
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


def of_memory(weighting: Weighting) -> list[str | None]:
    """What is not seen within a step."""
    return [weighting.policy.jumps, *(map(str, weighting.balance.obstacles()) if weighting.balance else ())]


def reasons(config: DictConfig) -> list[str]:
    return [str(each) for each in build_method(config).obstacles]


@pytest.mark.parametrize("extra", [*EXTRAS, *PAIRS])
@pytest.mark.parametrize("method", WITHOUT_LEDGER)
def test_what_is_called_smooth_does_not_jump_and_what_is_not_does(method: str, extra: str) -> None:
    config = composed(f"method={method}", *extra.split(), "data=digits")
    target, worst = instantiate(config.target), 0.0
    for memory in MEMORIES:
        weighting = build_weighting(config)
        remember(weighting, *memory)
        worst = max(worst, largest_jump(weighting, target))
    found = [reason for reason in obstacles(weighting, target) if reason not in of_memory(weighting)]
    assert worst > LARGE if found else worst < SMALL


@pytest.mark.parametrize("method", METHODS)
def test_whoever_follows_the_advice_has_a_smooth_loss(method: str) -> None:
    """Every obstacle names its ways out; each of them is taken, until none is left."""
    ways: list[list[str]] = [[f"method={method}", "data=digits"]]
    ends = 0
    while ways:
        knobs = ways.pop()
        assert len(knobs) < 8
        found = reasons(composed(*knobs))
        ends += not found
        if found:
            advice = re.fullmatch(r".*: use (.*)", found[0])
            assert advice, found[0]
            ways += [[*knobs, knob] for knob in advice[1].split(" or ")]
    assert ends > (method in ("adamatch", "flexmatch", "freematch"))  # several ways lead from thresholds below 1/2


@pytest.mark.parametrize(
    ("weighting", "target", "complaint"),
    [
        (Weighting(Fixed(0.95), Step()), Hard(), "the shape jumps at the threshold: use shape=linear"),
        (Weighting(Fixed(0.3), Power()), Hard(), "below 1/2, where a hard target jumps at ties"),
        (Weighting(Running(CLASSES), Gaussian()), Hard(), "shape=gaussian keeps weight where two classes tie"),
    ],
)
def test_every_obstacle_is_named_with_its_way_out(weighting: Weighting, target: Hard, complaint: str) -> None:
    (reason,) = obstacles(weighting, target)
    assert complaint in reason
    assert largest_jump(weighting, target) > 0.1


@pytest.mark.parametrize(
    ("method", "smooth", "complaint"),
    [
        ("flexmatch", "policy.counts=soft", "counts images above a threshold"),
        ("dash", "policy.schedule=continuous", "lowers its threshold in steps"),
    ],
)
def test_a_memory_that_jumps_is_an_obstacle(method: str, smooth: str, complaint: str) -> None:
    assert sum(complaint in reason for reason in reasons(composed(f"method={method}"))) == 1
    assert not any(complaint in reason for reason in reasons(composed(f"method={method}", smooth)))


def test_a_bound_from_below_keeps_thresholds_away_from_ties() -> None:
    knobs = ("method=freematch", "shape=linear", "fairness.counts=soft")
    assert any("below 1/2" in reason for reason in reasons(composed(*knobs)))
    assert not reasons(composed(*knobs, "policy.low=0.9", "policy.high=0.95"))


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
def test_the_papers_method_is_smooth_for_every_power(mu: float, target: Target) -> None:
    assert obstacles(Weighting(Fixed(0.95), Power(mu)), target) == []


@pytest.mark.parametrize("name", options("shape"))
def test_of_all_shapes_only_a_step_jumps(name: str) -> None:
    assert jumps(build("shape", name)) == (name == "step")


def test_strict_refuses_what_is_not_smooth_and_says_why() -> None:
    with pytest.raises(ConfigError, match=r"smooth=strict, but the loss is not C1: the shape jumps at the threshold"):
        build_method(composed("method=fixmatch", "smooth=strict"))
    build_method(composed("method=smooth", "smooth=strict"))
    build_method(composed("method=flexmatch", "shape=linear", "score=margin", "policy.counts=soft", "smooth=strict"))
