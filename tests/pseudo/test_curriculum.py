import math
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import torch

from smoothpl.pseudo import Curriculum, PseudoLabels, pseudo_labels
from smoothpl.pseudo.curriculum import MAPS
from tests.support.steps import CLASSES, IMAGES, random_steps

PUBLISHED: dict[str, Callable[[float], float]] = {
    "convex": lambda beta: beta / (2 - beta),
    "linear": lambda beta: (beta + 1) / 2,
    "low_limit": lambda beta: 1 / (2 - beta),
    "concave": lambda beta: (math.log(beta + 1) + 0.5) / (math.log(2) + 0.5),
}


def listed(pseudo: PseudoLabels) -> Iterator[tuple[int, int, float]]:
    assert pseudo.image is not None
    return zip(pseudo.image.tolist(), pseudo.label.tolist(), pseudo.confidence.tolist(), strict=True)


def curriculum(**settings: object) -> Curriculum:
    policy = Curriculum(0.9, CLASSES, **settings)  # type: ignore[arg-type]
    policy.prepare(IMAGES)
    return policy


@pytest.mark.parametrize("warm_up", [True, False])
@pytest.mark.parametrize("name", MAPS)
def test_flexmatch_is_the_published_rule_over_hundreds_of_steps(name: str, warm_up: bool) -> None:
    """A list with the last confident label of every image, -1 before the first, counted again at every step."""
    policy = curriculum(map=name, warm_up=warm_up)
    selected = [-1] * IMAGES
    for beliefs in random_steps(300):
        pseudo = beliefs.unlabeled
        count = Counter(selected)
        if not warm_up:
            del count[-1]
        largest = max(count.values(), default=0)
        beta = [count[c] / largest if largest else 0.0 for c in range(CLASSES)]
        expected = [0.9 * PUBLISHED[name](beta[c]) for c in pseudo.label.tolist()]
        torch.testing.assert_close(policy(pseudo), torch.tensor(expected), atol=1e-6, rtol=0)

        policy.observe(pseudo, torch.rand(len(expected)))
        for image, label, confidence in listed(pseudo):
            if confidence > 0.9:
                selected[image] = label  # the last occurrence in a batch wins
        counted = Counter(selected)
        assert policy.count.tolist() == [counted[c] for c in range(CLASSES)]


def test_soft_counts_are_sums_of_ramps_of_what_was_seen_last() -> None:
    policy = curriculum(counts="soft")
    ledger: dict[int, tuple[int, float]] = {}
    for beliefs in random_steps(200):
        pseudo = beliefs.unlabeled
        policy.observe(pseudo, torch.ones(len(pseudo.label)))
        for image, label, confidence in listed(pseudo):
            ledger[image] = (label, max(0.0, (confidence - 0.9) / 0.1))
        expected = [sum(weight for label, weight in ledger.values() if label == c) for c in range(CLASSES)]
        torch.testing.assert_close(policy.count / policy.unit, torch.tensor(expected), atol=1e-4, rtol=0)
        assert policy.count.equal(counted_again(policy))


def counted_again(policy: Curriculum) -> torch.Tensor:
    parts = (policy.ledger_weight.double() * policy.unit).long()
    return torch.zeros_like(policy.count).index_add_(0, policy.ledger, parts)


@pytest.mark.parametrize("counts", ["hard", "soft"])
def test_the_memory_of_an_earlier_version_is_read(counts: str) -> None:
    """It counted in double precision, in images."""
    policy, other = curriculum(counts=counts), curriculum(counts=counts)
    for beliefs in random_steps(20):
        policy.observe(beliefs.unlabeled, torch.ones(len(beliefs.unlabeled.label)))
    now = policy.state_dict()
    other.load_state_dict(now | {"count": now["count"].double() / policy.unit})
    assert policy.count.any()
    assert other.count.equal(policy.count)


@pytest.mark.parametrize(("counts", "continuous"), [("hard", False), ("soft", True)])
def test_only_soft_counts_are_continuous_when_an_image_crosses_the_threshold(counts: str, continuous: bool) -> None:
    after = []
    for confidence in (0.9 - 1e-5, 0.9 + 1e-5):
        policy = curriculum(counts=counts)
        probability = torch.full((1, CLASSES), (1 - confidence) / 9)
        probability[0, 3] = confidence
        policy.observe(pseudo_labels(probability.log(), torch.tensor([5])), torch.ones(1))
        after.append(policy.count[3].item() / policy.unit)
    assert (abs(after[1] - after[0]) < 1e-3) == continuous


def test_the_order_of_a_batch_decides_and_nothing_else() -> None:
    """The paper could not repeat FlexMatch: its codebase leaves open which of two occurrences of an image is kept."""
    probability = torch.full((3, CLASSES), 0.001)
    for row, label in enumerate((1, 2, 4)):
        probability[row, label] = 0.991
    policy = curriculum()
    policy.observe(pseudo_labels(probability.log(), torch.tensor([7, 7, 8])), torch.ones(3))
    assert policy.ledger[[7, 8]].tolist() == [2, 4]
    assert policy.count.tolist() == [0, 0, 1, 0, 1, 0, 0, 0, 0, 0]


def test_the_memory_is_where_the_policy_is() -> None:
    policy = Curriculum(0.9, CLASSES).to("meta")
    policy.prepare(IMAGES)
    assert {name: buffer.device.type for name, buffer in policy.named_buffers()} == {
        "count": "meta",
        "ledger": "meta",
        "ledger_weight": "meta",
    }


@pytest.mark.parametrize(("images", "is_kept"), [(IMAGES, True), (IMAGES + 1, False)])
def test_who_prepares_again_keeps_the_memory_or_begins_wholly_anew(images: int, is_kept: bool) -> None:
    policy = curriculum()
    for beliefs in random_steps(10):
        policy.observe(beliefs.unlabeled, torch.ones(len(beliefs.unlabeled.label)))
    before = {name: value.clone() for name, value in policy.state_dict().items()}
    assert all(value.any() for value in before.values())
    policy.prepare(images)
    assert len(policy.ledger) == images
    for name, value in policy.state_dict().items():
        assert torch.equal(value, before[name]) if is_kept else not value.any()


def test_at_the_start_everything_passes_or_nothing_below_half() -> None:
    pseudo = next(random_steps(1)).unlabeled
    assert curriculum()(pseudo).max() == 0
    assert curriculum(map="low_limit")(pseudo).min() == pytest.approx(0.45)


@pytest.mark.parametrize("setting", [{"map": "cubic"}, {"counts": "some"}])
def test_settings_that_do_not_exist_are_refused(setting: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"policy\.(map|counts)=.* must be"):
        Curriculum(0.9, CLASSES, **setting)  # type: ignore[arg-type]
