import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.pseudo import Everybody, Fixed, Gaussian, Power, PseudoLabels, Running, Soft, Step, Weighting, obstacles
from smoothpl.pseudo.balance import Balance, by_effective_number
from tests.support.steps import CLASSES, IMAGES, random_steps


def balance(**settings: object) -> Balance:
    made = Balance(CLASSES, **{"refresh_every": 1} | settings)  # type: ignore[arg-type]
    made.prepare(IMAGES, torch.arange(1, CLASSES + 1))
    return made


def published(count: list[float], images_per_class: float | None = None) -> list[float]:
    number = sum(count) / len(count) if images_per_class is None else images_per_class
    weight = [1 / (1 - ((number - 1) / number) ** each) for each in count]
    return [len(count) * each / sum(weight) for each in weight]


@pytest.mark.parametrize("images_per_class", [None, 1000.0])
def test_weights_are_by_the_effective_number_of_images(images_per_class: float | None) -> None:
    count = [1500.0, 900.0, 15.0, 1.0]
    weight = by_effective_number(torch.tensor(count), images_per_class)
    assert weight.tolist() == pytest.approx(published(count, images_per_class))
    assert weight.mean() == pytest.approx(1)
    assert weight.diff().min() > 0


def test_classes_alike_weigh_1_and_one_that_is_missing_weighs_as_one_image() -> None:
    assert by_effective_number(torch.full((5,), 1)).tolist() == pytest.approx(5 * [1])
    assert by_effective_number(torch.full((5,), 300)).tolist() == pytest.approx(5 * [1])
    with_none, with_one = (by_effective_number(torch.tensor([9, 5, each])) for each in (0, 1))
    assert with_none.equal(with_one)


@pytest.mark.parametrize("counts", ["hard", "soft"])
def test_every_image_counts_as_it_was_believed_when_it_was_last_seen(counts: str) -> None:
    made = balance(counts=counts)
    ledger: dict[int, list[float]] = {}
    for beliefs in random_steps(100):
        pseudo = beliefs.unlabeled
        made.observe(pseudo)
        assert pseudo.image is not None
        for image, label, probabilities in zip(
            pseudo.image.tolist(), pseudo.label.tolist(), pseudo.probabilities.tolist(), strict=True
        ):
            ledger[image] = [float(c == label) for c in range(CLASSES)] if counts == "hard" else probabilities
        count = [sum(each[c] for each in ledger.values()) for c in range(CLASSES)]
        assert (made.count / made.unit).tolist() == pytest.approx(count, abs=0.05 if counts == "soft" else 0)
        expected = published([max(each, 1) for each in count])
        assert made.of_pseudo_label.tolist() == pytest.approx(expected, abs=1e-3)
    assert made.of_label.tolist() == pytest.approx(published(list(range(1, CLASSES + 1))))


def test_soft_counts_are_sums_of_what_is_remembered_to_the_bit() -> None:
    made = balance(counts="soft")
    for beliefs in random_steps(200):
        made.observe(beliefs.unlabeled)
    assert made.count.equal((made.seen.double().sum(dim=0) * made.unit).long())


@pytest.mark.parametrize("counts", ["hard", "soft"])
def test_the_memory_of_an_earlier_version_is_read(counts: str) -> None:
    """It counted in double precision, in images."""
    made, other = balance(counts=counts), balance(counts=counts)
    for beliefs in random_steps(20):
        made.observe(beliefs.unlabeled)
    now = made.state_dict()
    other.load_state_dict(now | {"count": now["count"].double() / made.unit})
    assert made.count.any()
    assert other.count.equal(made.count)


def test_a_weight_does_not_suffer_from_single_precision() -> None:
    count = [40_000.0, 1_300.0, 7.0, 1.0]
    assert by_effective_number(torch.tensor(count), 1e6).tolist() == pytest.approx(published(count, 1e6), rel=1e-5)


@pytest.mark.parametrize(("counts", "continuous"), [("hard", False), ("soft", True)])
def test_only_soft_counts_are_continuous_where_two_classes_tie(counts: str, continuous: bool) -> None:
    after = []
    for first in (0.475 - 1e-3, 0.475 + 1e-3):
        made = balance(counts=counts)
        probabilities = torch.zeros(1, CLASSES)
        probabilities[0, 3], probabilities[0, 4] = first, 0.95 - first
        made.observe(PseudoLabels(probabilities.argmax(1), probabilities.amax(1), probabilities, torch.tensor([5])))
        after.append(made.count / made.unit)
    assert ((after[1] - after[0]).abs().max() < 0.01) == continuous


def test_between_refreshes_weights_rest() -> None:
    made = balance(refresh_every=3)
    assert made.of_pseudo_label.tolist() == CLASSES * [1]
    for number, beliefs in enumerate(random_steps(12), start=1):
        before = made.of_pseudo_label.clone()
        made.observe(beliefs.unlabeled)
        assert made.of_pseudo_label.equal(before) == (number % 3 != 0)


@pytest.mark.parametrize("counts", ["hard", "soft"])
def test_a_memory_of_another_number_of_images_begins_anew(counts: str) -> None:
    made = balance(counts=counts)
    for beliefs in random_steps(5):
        made.observe(beliefs.unlabeled)
    kept = made.seen.clone()
    made.prepare(IMAGES, None)
    assert made.seen.equal(kept)
    made.prepare(IMAGES + 1, None)
    assert len(made.seen) == IMAGES + 1
    assert made.count.sum() == 0


def test_where_weights_by_class_jump_there_must_be_no_weight() -> None:
    soft = balance(counts="soft")
    assert not obstacles(Weighting(Fixed(0.5), Power(), balance=soft), Soft())
    (low,) = obstacles(Weighting(Fixed(0.4), Power(), balance=soft), Soft())
    assert "below 1/2, where a weight by class jumps at ties: use threshold_floor=0.5 or score=margin" in low
    (bell,) = obstacles(Weighting(Running(CLASSES), Gaussian(), balance=soft), Soft())
    assert "weights by class jump: use shape=linear" in bell
    (memory,) = obstacles(Weighting(Fixed(0.5), Power(), balance=balance()), Soft())
    assert "counts the labels of images: use balance.counts=soft" in memory


def test_labels_that_are_held_back_are_balanced_too() -> None:
    weighting = Weighting(Everybody(), Step(), balance=balance())
    label = torch.tensor([0, 9])
    assert weighting.balance is not None
    weight = weighting.of_labeled(torch.full((2, CLASSES), 0.1), label)
    assert weight is not None
    assert weight.tolist() == weighting.balance.of_label[label].tolist()


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"counts": "half"}, r"balance\.counts=half must be hard \(SAW\) or soft"),
        ({"refresh_every": 0}, r"balance\.refresh_every=0 must be a whole number of steps"),
        ({"images_per_class": 1}, r"balance\.images_per_class=1 must be above 1; null takes"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings: dict[str, object], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        balance(**settings)


def test_more_probabilities_than_fit_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"1000 probabilities of each of 1,281,167 images, 2\.4 GB; use "):
        Balance(1000, 1, counts="soft").prepare(1_281_167, None)
