import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.pseudo import PseudoLabels, pseudo_labels
from smoothpl.pseudo.equal_shares import EqualShares
from tests.support.steps import CLASSES, IMAGES, random_steps


def policy(threshold: float = 0.9, **settings: object) -> EqualShares:
    made = EqualShares(threshold, CLASSES, **{"refresh_every": 1} | settings)  # type: ignore[arg-type]
    made.prepare(IMAGES)
    return made


def believed(*images: tuple[int, float]) -> PseudoLabels:
    """Images of a class, believed in so firmly."""
    probabilities = torch.zeros(len(images), CLASSES)
    for number, (label, confidence) in enumerate(images):
        probabilities[number] = (1 - confidence) / (CLASSES - 1)
        probabilities[number, label] = confidence
    return pseudo_labels(probabilities.log(), torch.arange(len(images)))


def counted(made: EqualShares, pseudo: PseudoLabels) -> list[bool]:
    above: list[bool] = (pseudo.confidence > made(pseudo)).tolist()
    return above


def observe(made: EqualShares, pseudo: PseudoLabels, times: int = 1) -> None:
    for _ in range(times):
        made.observe(pseudo, torch.ones_like(pseudo.confidence))


def test_of_every_class_as_large_a_share_counts_as_of_the_first() -> None:
    made = policy()
    first = [(0, each) for each in (0.99, 0.95, 0.8, 0.7)]  # a half
    others = [(3, each) for each in (0.6, 0.5, 0.4, 0.3, 0.35)]  # two of five
    pseudo = believed(*first, *others)
    assert counted(made, pseudo) == [True, True] + 7 * [False]
    observe(made, pseudo)
    assert counted(made, pseudo) == [True, True, False, False, True, True, False, False, False]
    assert made.thresholds[[0, 1]].tolist() == pytest.approx([0.9, 0.9])  # its own, and that of a class not predicted


def test_the_first_class_is_the_one_with_the_most_labels() -> None:
    made = policy()
    made.prepare_labels(torch.tensor([4, 4, 9, 4, 9, 4, 4, 4, 4, 4]))
    pseudo = believed((2, 0.99), (2, 0.5), (0, 0.97), (0, 0.96), (0, 0.6), (0, 0.3))
    observe(made, pseudo)
    assert made.first == 2
    assert counted(made, pseudo) == [True, False, True, True, False, False]


def test_of_a_class_of_which_nothing_is_kept_nothing_counts() -> None:
    made = policy()
    observe(made, believed((0, 0.5), (3, 0.7), (4, 0.95)))
    assert made.thresholds[3] == pytest.approx(0.9)
    assert made.thresholds[4] == pytest.approx(0.95)


def test_thresholds_stay_below_one_where_floats_know_nothing_firmer() -> None:
    made = policy()
    pseudo = believed((0, 1.0), (0, 0.5), (3, 1.0), (3, 1.0))
    observe(made, pseudo)
    assert made.thresholds[3] < 1
    assert counted(made, pseudo) == [True, False, True, True]


def test_between_refreshes_thresholds_rest() -> None:
    made = policy(refresh_every=3)
    for number, beliefs in enumerate(random_steps(12), start=1):
        before = made.thresholds.clone()
        observe(made, beliefs.unlabeled)
        assert made.thresholds.equal(before) == (number % 3 != 0)


def test_a_memory_of_another_number_of_images_begins_anew() -> None:
    made = policy()
    for beliefs in random_steps(5):
        observe(made, beliefs.unlabeled)
    kept = made.thresholds.clone()
    made.prepare(IMAGES)
    assert made.thresholds.equal(kept)
    made.prepare(IMAGES + 1)
    assert made.thresholds.tolist() == pytest.approx(CLASSES * [0.9])
    assert (made.label == CLASSES).all()


def test_soft_thresholds_begin_alike_and_come_to_keep_the_same_share() -> None:
    made = policy(quantiles="soft", momentum=0.9)
    chance = torch.Generator().manual_seed(2)
    firm, hardly = 1 - 0.4 * torch.rand(500, generator=chance), 0.3 + 0.5 * torch.rand(500, generator=chance)
    images = [(0, each) for each in firm.tolist()] + [(5, each) for each in hardly.tolist()]
    probabilities = torch.zeros(1000, CLASSES)
    for number, (label, confidence) in enumerate(images):
        probabilities[number, label], probabilities[number, 9] = confidence, 0  # what is left lies below zero's bin
        probabilities[number, [each for each in range(9) if each != label]] = (1 - confidence) / 8
    pseudo = PseudoLabels(probabilities.argmax(1), probabilities.amax(1), probabilities)
    assert made.thresholds.tolist() == pytest.approx(CLASSES * [0.9])
    observe(made, pseudo, times=200)
    ahead = probabilities.topk(2).values @ torch.tensor([1.0, -1.0])
    above = pseudo.confidence > made(pseudo)
    shares = [(ahead * above)[part].sum() / ahead[part].sum() for part in (slice(500), slice(500, None))]
    assert made.thresholds[0] == pytest.approx(0.9, abs=1e-4)
    assert made.thresholds[5] < 0.8
    assert abs(shares[0] - shares[1]) < 0.02


@pytest.mark.parametrize(("quantiles", "continuous"), [("hard", False), ("soft", True)])
@pytest.mark.parametrize("place", ["threshold", "tie"])
def test_only_soft_quantiles_are_continuous_when_an_image_crosses_a_threshold_or_a_tie(
    quantiles: str, continuous: bool, place: str
) -> None:
    after = []
    for side in (-1e-5, 1e-5):
        made = policy(quantiles=quantiles, momentum=0.5)
        first, second = (0.9 + side, 0.05) if place == "threshold" else (0.47 + side, 0.47)
        moved = torch.full((1, CLASSES), (1 - first - second) / 8)
        moved[0, 0], moved[0, 3] = first, second
        others = believed((0, 0.95), (0, 0.5), (3, 0.8), (3, 0.7), (3, 0.6)).probabilities
        observe(made, pseudo_labels(torch.cat([moved, others]).log(), torch.arange(6)))
        after.append(made.thresholds)
    assert ((after[1] - after[0]).abs().max() < 1e-3) == continuous


def test_a_step_of_many_images_is_what_they_are_in_any_order() -> None:
    one, other = policy(), policy()
    for beliefs in random_steps(10):
        pseudo, order = beliefs.unlabeled, torch.arange(16)
        unique = [each[order] for each in pseudo[:3]] + [torch.arange(16)]
        observe(one, PseudoLabels(*unique))
        observe(other, PseudoLabels(*(each.flip(0) for each in unique)))
        assert one.thresholds.equal(other.thresholds)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"quantiles": "half"}, r"policy\.quantiles=half must be hard \(Adsh\) or soft"),
        ({"refresh_every": 0}, r"policy\.refresh_every=0 must be a whole number of steps"),
        ({"momentum": 1.0}, r"policy\.momentum=1\.0 must lie in \[0, 1\)"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings: dict[str, object], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        policy(**settings)  # type: ignore[arg-type]
