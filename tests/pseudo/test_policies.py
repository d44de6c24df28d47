import pytest
import torch

from smoothpl.pseudo import Beliefs, Fixed, Relative, Running, SelfAdaptive, ThresholdPolicy, pseudo_labels
from tests.support.composing import build, options
from tests.support.steps import CLASSES, random_steps


@pytest.mark.parametrize("name", options("policy"))
def test_every_policy_has_a_threshold_for_every_image_never_below_its_lowest(name: str) -> None:
    policy = build("policy", name)
    assert isinstance(policy, ThresholdPolicy)
    policy.prepare(100)
    for beliefs in random_steps(30):
        policy.see(beliefs)
        threshold = policy(beliefs.unlabeled)
        assert threshold.shape == beliefs.unlabeled.confidence.shape
        assert ((threshold >= policy.lowest - 1e-6) & (threshold < 1)).all()
        policy.observe(beliefs.unlabeled, torch.ones_like(threshold))


@pytest.mark.parametrize("name", options("policy"))
def test_asking_does_not_change_the_memory(name: str) -> None:
    policy = build("policy", name)
    policy.prepare(100)
    beliefs = next(random_steps(1))
    policy.see(beliefs)
    before = {key: value.clone() for key, value in policy.state_dict().items()}
    assert torch.equal(policy(beliefs.unlabeled), policy(beliefs.unlabeled))
    assert all(torch.equal(before[key], value) for key, value in policy.state_dict().items())


@pytest.mark.parametrize("name", options("policy"))
def test_a_memory_that_is_saved_and_loaded_answers_the_same(name: str) -> None:
    one, other = build("policy", name), build("policy", name)
    one.prepare(100)
    other.prepare(100)
    steps = list(random_steps(20))
    for beliefs in steps[:10]:
        one.see(beliefs)
        one.observe(beliefs.unlabeled, torch.ones(len(beliefs.unlabeled.label)))
    other.load_state_dict(one.state_dict())
    for beliefs in steps[10:]:
        for policy in (one, other):
            policy.see(beliefs)
        assert torch.equal(one(beliefs.unlabeled), other(beliefs.unlabeled))


def test_a_fixed_threshold_stays_where_it_is() -> None:
    policy = Fixed(0.7)
    for beliefs in random_steps(3):
        policy.see(beliefs)
        torch.testing.assert_close(policy(beliefs.unlabeled), torch.full_like(beliefs.unlabeled.confidence, 0.7))


def test_adamatch_takes_a_share_of_the_mean_confidence_in_labeled_images() -> None:
    policy = Relative(0.9, CLASSES)
    for beliefs in random_steps(200):
        policy.see(beliefs)
        expected = 0.9 * sum(row.max().item() for row in beliefs.labeled) / len(beliefs.labeled)
        torch.testing.assert_close(policy(beliefs.unlabeled), torch.full((len(beliefs.unlabeled.label),), expected))


def test_freematch_follows_confidence_and_the_frequency_of_classes() -> None:
    policy = SelfAdaptive(CLASSES, momentum=0.9)
    level, share = 1 / CLASSES, [1 / CLASSES] * CLASSES
    for beliefs in random_steps(300):
        policy.see(beliefs)
        rows = beliefs.unlabeled.probabilities.tolist()
        level = 0.9 * level + 0.1 * sum(max(row) for row in rows) / len(rows)
        share = [0.9 * old + 0.1 * sum(row[c] for row in rows) / len(rows) for c, old in enumerate(share)]
        expected = [level * share[row.index(max(row))] / max(share) for row in rows]
        torch.testing.assert_close(policy(beliefs.unlabeled), torch.tensor(expected), atol=1e-5, rtol=0)


def test_freematch_can_be_kept_within_bounds_as_published() -> None:
    """The threshold of every class lies between them, not only the level it is lowered from."""
    policy, free = SelfAdaptive(CLASSES, momentum=0.5, low=0.3, high=0.6), SelfAdaptive(CLASSES, momentum=0.5)
    for beliefs in random_steps(50):
        policy.see(beliefs)
        free.see(beliefs)
        assert torch.equal(policy(beliefs.unlabeled), free(beliefs.unlabeled).clamp(0.3, 0.6))
    assert free(beliefs.unlabeled).min() < 0.3
    assert free(beliefs.unlabeled).max() > 0.6
    assert policy.lowest == 0.3


@pytest.mark.parametrize(("low", "high"), [(0.95, 0.9), (-0.1, 1.0), (0.0, 1.5)])
def test_bounds_that_make_no_sense_are_refused(low: float, high: float) -> None:
    with pytest.raises(ValueError, match=rf"policy.low={low} and policy.high={high} must be 0 <= low <= high <= 1"):
        SelfAdaptive(CLASSES, low=low, high=high)


def test_softmatch_follows_mean_and_variance_of_confidence() -> None:
    policy = Running(CLASSES, momentum=0.9, deviations=2)
    mean, variance = 1 / CLASSES, 1.0
    for beliefs in random_steps(300):
        policy.see(beliefs)
        confidence = beliefs.unlabeled.confidence.tolist()
        now = sum(confidence) / len(confidence)
        mean = 0.9 * mean + 0.1 * now
        variance = 0.9 * variance + 0.1 * sum((c - now) ** 2 for c in confidence) / (len(confidence) - 1)
        assert policy.mean.item() == pytest.approx(mean, abs=1e-5)
        assert policy.spread.item() == pytest.approx(variance**0.5 / 2, abs=1e-5)


def test_a_step_without_memory_is_possible_in_anybodys_loop() -> None:
    pseudo = pseudo_labels(torch.randn(3, CLASSES))
    Fixed(0.5).see(Beliefs(pseudo, torch.rand(2, CLASSES), torch.tensor([0, 1])))
    assert Fixed(0.5)(pseudo).tolist() == [0.5] * 3
