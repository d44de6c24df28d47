from typing import Any

import pytest
import torch

from smoothpl.pseudo import (
    Beliefs,
    Fixed,
    Gaussian,
    Power,
    PseudoLabels,
    Running,
    RunningAlignment,
    Step,
    ThresholdPolicy,
    Weighting,
)
from smoothpl.run.build_method import build_weighting
from tests.support.composing import composed, options
from tests.support.steps import CLASSES, IMAGES, random_steps

PROBABILITIES = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.9, 0.0], [0.0, 0.0, 1.0]])
PSEUDO = PseudoLabels(torch.tensor([0, 1, 2]), torch.tensor([0.5, 0.9, 1.0]), PROBABILITIES)


def test_a_weighting_is_the_shape_at_the_policys_threshold() -> None:
    torch.testing.assert_close(Weighting(Fixed(0.8), Power())(PSEUDO), torch.tensor([0, 0.5, 1]))
    assert Weighting(Fixed(0.8), Step())(PSEUDO).tolist() == [0, 1, 1]


def test_the_policys_memory_is_part_of_the_weightings_state() -> None:
    class Remembers(ThresholdPolicy):
        def __init__(self) -> None:
            super().__init__()
            self.seen: torch.Tensor
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, pseudo: PseudoLabels) -> torch.Tensor:
            return torch.zeros_like(pseudo.confidence)

        def observe(self, pseudo: PseudoLabels, weight: torch.Tensor) -> None:
            self.seen += len(pseudo.label)

    weighting = Weighting(Remembers(), Power())
    weighting.observe(PSEUDO, torch.ones(3))
    assert weighting.state_dict()["policy.seen"] == 3


def test_the_margin_is_how_far_the_first_class_is_ahead() -> None:
    torch.testing.assert_close(Weighting(Fixed(0.5), Power(), score="margin")(PSEUDO), torch.tensor([0, 0.6, 1]))


def test_no_threshold_is_below_the_floor() -> None:
    torch.testing.assert_close(Weighting(Fixed(0.2), Power(), floor=0.8)(PSEUDO), torch.tensor([0, 0.5, 1]))


def test_softmatch_weighs_by_a_gaussian_below_the_running_mean() -> None:
    """exp(-(min(sigma - mu, 0))^2 / (2 v / n^2)), with probabilities aligned for the weight and not for the target."""
    weighting = Weighting(
        Running(CLASSES, momentum=0.5), Gaussian(), RunningAlignment(CLASSES, "uniform", teaches=False, momentum=0.5)
    )
    for beliefs in random_steps(50):
        weighting.see(beliefs)
        weight = weighting(beliefs.unlabeled)
        assert isinstance(weighting.policy, Running)
        mean, variance = weighting.policy.mean, weighting.policy.variance
        aligned = weighting.alignment(beliefs.unlabeled.probabilities).amax(dim=1)
        expected = torch.exp(-((aligned - mean).clamp(max=0) ** 2) / (2 * variance / 2**2))
        torch.testing.assert_close(weight, expected)
        assert weighting.lessons(beliefs.unlabeled) is beliefs.unlabeled


def test_adamatch_teaches_what_it_aligned() -> None:
    weighting = Weighting(Fixed(0.5), Power(), RunningAlignment(CLASSES, "labeled"))
    beliefs = next(random_steps(1))
    weighting.see(beliefs)
    taught = weighting.lessons(beliefs.unlabeled)
    assert torch.equal(taught.probabilities, weighting.alignment(beliefs.unlabeled.probabilities))
    assert torch.equal(taught.label, taught.probabilities.argmax(dim=1))


@pytest.mark.parametrize("settings", [{"score": "luck"}, {"shape": Gaussian()}])
def test_parts_that_do_not_fit_are_refused(settings: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"policy": Fixed(0.5), "shape": Power()}
    with pytest.raises(ValueError, match=r"must be confidence or margin|use policy=running"):
        Weighting(**usual | settings)


@pytest.mark.parametrize("method", [name for name in options("method") if "supervised" not in name])
def test_mixed_precision_changes_no_bit_of_a_weight_nor_of_the_memory(method: str) -> None:
    words = (f"method={method}", *(["annealing=log"] if method == "uda" else []))
    plain, mixed = build_weighting(composed(*words)), build_weighting(composed(*words))
    plain.prepare(IMAGES, torch.full((CLASSES,), 4))
    mixed.prepare(IMAGES, torch.full((CLASSES,), 4))
    for beliefs in random_steps(10):
        expected = a_step(plain, beliefs)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = a_step(mixed, beliefs)
        assert all(map(torch.equal, found, expected))
    assert all(map(torch.equal, mixed.state_dict().values(), plain.state_dict().values()))


def a_step(weighting: Weighting, beliefs: Beliefs) -> list[torch.Tensor]:
    weighting.see(beliefs)
    weight = weighting(beliefs.unlabeled)
    of_labeled = weighting.of_labeled(beliefs.labeled, beliefs.label)
    lessons = weighting.lessons(beliefs.unlabeled)
    weighting.observe(beliefs.unlabeled, weight)
    return [weight, lessons.probabilities, *([] if of_labeled is None else [of_labeled])]
