from itertools import pairwise

import pytest
import torch

from smoothpl.data import balanced, digits, full, given, imbalanced, random
from smoothpl.data.folds import (
    check_even,
    check_imbalance,
    count_classes,
    deviations_by_size,
    geometric,
    normalised_deviation,
    share_out,
)
from smoothpl.errors import ConfigError
from tests.support.real import needs_cifar10, real_cifar10

LABELS = digits().train.labels


@pytest.mark.parametrize("fold", range(6))
@pytest.mark.parametrize("num_labels", [10, 40, 250])
def test_balanced_gives_every_class_the_same_number_of_labels(fold: int, num_labels: int) -> None:
    labeled = balanced(LABELS, num_labels, 10, fold, True).labeled
    assert LABELS[labeled].bincount(minlength=10).tolist() == [num_labels // 10] * 10
    assert len({*labeled.tolist()}) == num_labels


def test_a_fold_is_a_function_of_its_number() -> None:
    folds = [balanced(LABELS, 40, 10, fold, True).labeled for fold in range(6)]
    assert torch.equal(folds[3], balanced(LABELS, 40, 10, 3, True).labeled)
    assert len({tuple(fold.tolist()) for fold in folds}) == 6


def test_a_fold_does_not_move_with_the_state_of_any_generator() -> None:
    expected = balanced(LABELS, 40, 10, 0, True).labeled
    torch.manual_seed(123)
    assert torch.equal(balanced(LABELS, 40, 10, 0, True).labeled, expected)


def test_unlabeled_images_include_the_labeled_ones_only_when_asked() -> None:
    together, apart = (balanced(LABELS, 40, 10, 0, includes) for includes in (True, False))
    assert together.unlabeled.tolist() == list(range(len(LABELS)))
    assert torch.equal(together.labeled, apart.labeled)
    assert sorted(apart.labeled.tolist() + apart.unlabeled.tolist()) == list(range(len(LABELS)))


def test_more_labels_than_the_smallest_class_has_is_an_error_with_the_way_out() -> None:
    smallest = int(LABELS.bincount().min())
    with pytest.raises(ConfigError, match=f"with equal classes at most {smallest * 10}"):
        balanced(LABELS, 2000, 10, 0, True)
    assert len(balanced(LABELS, smallest * 10, 10, 0, True).labeled) == smallest * 10


@needs_cifar10
@pytest.mark.parametrize("fold", range(6))
def test_random_folds_of_cifar10_are_nested_from_40_to_150_labels(fold: int) -> None:
    labels = real_cifar10().train.labels
    sizes = range(40, 160, 10)
    folds = [set(random(labels, size, fold, True).labeled.tolist()) for size in sizes]
    assert [len(labeled) for labeled in folds] == list(sizes)
    assert all(smaller < larger for smaller, larger in pairwise(folds))


def test_random_labels_are_uniform_over_all_images() -> None:
    count = torch.zeros(len(LABELS))
    for fold in range(600):
        count[random(LABELS, 100, fold, True).labeled] += 1
    expected = 600 * 100 / len(LABELS)
    assert count.min() > expected - 6 * expected**0.5
    assert count.max() < expected + 6 * expected**0.5


def test_random_may_leave_a_class_without_labels() -> None:
    missing = [LABELS[random(LABELS, 20, fold, True).labeled].bincount(minlength=10).min() for fold in range(20)]
    assert 0 in missing


def test_random_cannot_label_more_images_than_there_are() -> None:
    assert len(random(LABELS, len(LABELS), 0, False).unlabeled) == 0
    with pytest.raises(ConfigError, match="1297 training images"):
        random(LABELS, len(LABELS) + 1, 0, True)


PAPER = {"keep": 0.6, "num_thinned": 1, "labeled_tail": 1.0, "unlabeled_tail": 1.0}


@needs_cifar10
@pytest.mark.parametrize("fold", range(6))
def test_imbalanced_thins_one_class_of_cifar10_and_leaves_the_labels_as_they_were(fold: int) -> None:
    """Paper, Sec. 4.3.3: one class, chosen at random, drops 40 % of its unlabeled images."""
    labels = real_cifar10().train.labels
    chosen = imbalanced(labels, 40, 10, fold, True, **PAPER)  # type: ignore[arg-type]
    assert sorted(labels[chosen.unlabeled].bincount().tolist()) == [3000] + [5000] * 9
    assert torch.equal(chosen.labeled, balanced(labels, 40, 10, fold, True).labeled)


def thinned(fold: int) -> int:
    chosen = imbalanced(LABELS, 40, 10, fold, True, **PAPER)  # type: ignore[arg-type]
    return int((LABELS[chosen.unlabeled].bincount() / LABELS.bincount()).argmin())


def test_another_fold_may_thin_another_class() -> None:
    assert len({thinned(fold) for fold in range(20)}) > 4


def test_labeled_images_can_be_kept_out_of_the_thinned_unlabeled_ones() -> None:
    chosen = imbalanced(LABELS, 40, 10, 0, False, **PAPER)  # type: ignore[arg-type]
    assert not set(chosen.labeled.tolist()) & set(chosen.unlabeled.tolist())


@pytest.mark.parametrize(("labeled_tail", "unlabeled_tail"), [(10.0, 1.0), (1.0, 10.0), (10.0, 100.0)])
def test_tails_are_geometric_and_independent(labeled_tail: float, unlabeled_tail: float) -> None:
    labels = torch.arange(10).repeat_interleave(1000)
    tails = {"labeled_tail": labeled_tail, "unlabeled_tail": unlabeled_tail}
    chosen = imbalanced(labels, 400, 10, 0, True, keep=1.0, num_thinned=0, **tails)
    labeled, unlabeled = labels[chosen.labeled].bincount(), labels[chosen.unlabeled].bincount()
    assert labeled.sum() == 400
    total = sum(labeled_tail ** (-c / 9) for c in range(10))
    for c in range(10):
        assert abs(labeled[c] - 400 * labeled_tail ** (-c / 9) / total) < 1
        assert abs(unlabeled[c] - 1000 * unlabeled_tail ** (-c / 9)) <= 0.5


def test_images_of_unknown_class_are_never_labeled_and_always_unlabeled() -> None:
    """As in STL-10, where most images have no label to give."""
    labels = torch.tensor([0, 1] * 10 + [-1] * 30)
    for fold in (balanced(labels, 4, 2, 0, True), random(labels, 4, 0, True)):
        assert (labels[fold.labeled] >= 0).all()
        assert len(fold.unlabeled) == 50
    assert count_classes(labels, 3).tolist() == [10, 10, 0]
    with pytest.raises(ConfigError, match="num_labels=21, but only 20 training images have labels"):
        random(labels, 21, 0, True)
    with pytest.raises(ConfigError, match="split=imbalanced must know the class of every training image"):
        imbalanced(labels, 4, 2, 0, True, 0.6, 1, 1.0, 1.0)


@pytest.mark.parametrize(("num_classes", "per_class", "num_labels"), [(100, 500, 2500), (1000, 1300, 100_000)])
def test_the_papers_other_folds_are_balanced_too(num_classes: int, per_class: int, num_labels: int) -> None:
    """CIFAR-100 with 2,500 labels, and 100 labels for each class of ImageNet."""
    labels = torch.arange(num_classes).repeat_interleave(per_class)
    fold = balanced(labels, num_labels, num_classes, 0, True)
    assert labels[fold.labeled].bincount().tolist() == [num_labels // num_classes] * num_classes
    assert len(fold.unlabeled) == num_classes * per_class


def test_a_full_fold_labels_all_that_have_a_label() -> None:
    fold = full(torch.tensor([2, -1, 0]))
    assert fold.labeled.tolist() == [0, 2]
    assert fold.unlabeled.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("includes", "unlabeled"), [(True, [0, 1, 3, 4]), (False, [1, 3])])
def test_given_labels_are_all_used_and_held_out_images_are_in_neither_part(
    includes: bool, unlabeled: list[int]
) -> None:
    fold = given(torch.tensor([1, -1, -2, -1, 0]), unlabeled_includes_labeled=includes)
    assert fold.labeled.tolist() == [0, 4]
    assert fold.unlabeled.tolist() == unlabeled


IMBALANCE = {"keep": 0.6, "num_thinned": 1, "labeled_tail": 1.0, "unlabeled_tail": 1.0}


@pytest.mark.parametrize(
    ("num_labels", "changes", "complaint"),
    [
        (
            45,
            {},
            "num_labels=45 does not divide evenly among 10 classes; use a multiple of 10, for example num_labels=40",
        ),
        (3, {}, "for example num_labels=10"),
        (40, {"keep": 0}, r"split\.keep=0 must lie in \(0, 1\]"),
        (40, {"keep": 1.1}, r"split\.keep=1\.1 must lie in"),
        (40, {"num_thinned": 11}, r"split\.num_thinned=11 must be a number of classes, from 0 to 10"),
        (40, {"labeled_tail": 0.5}, r"split\.labeled_tail=0\.5 must be 1 \(no tail\) or more"),
        (40, {"unlabeled_tail": 0.5}, r"split\.unlabeled_tail=0\.5 must be 1 \(no tail\) or more"),
        (40, {"keep": 1}, "use split=balanced"),
        (40, {"num_thinned": 0}, "use split=balanced"),
    ],
)
def test_a_split_refuses_settings_that_make_no_sense(
    num_labels: int, changes: dict[str, float], complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        check_imbalance(num_labels, 10, **IMBALANCE | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("num_labels", "changes"),
    [
        (40, {}),
        (45, {"labeled_tail": 5.0}),  # which need not divide evenly
        (40, {"keep": 1.0, "unlabeled_tail": 5.0}),
        (40, {"num_thinned": 10}),
    ],
)
def test_a_split_accepts_every_kind_of_imbalance(num_labels: int, changes: dict[str, float]) -> None:
    check_imbalance(num_labels, 10, **IMBALANCE | changes)  # type: ignore[arg-type]
    check_even(40, 10, fold=3)
    assert (balanced.check, imbalanced.check) == (check_even, check_imbalance)  # type: ignore[attr-defined]


def test_the_deviation_of_labels_is_0_if_classes_are_even_and_1_if_half_of_them_have_all() -> None:
    """The mean of the frequencies 1/2, 1/2, 0, 0 is 1/4, and so is their deviation."""
    assert normalised_deviation(torch.tensor([0, 1, 2, 3]), 4) == pytest.approx(0)
    assert normalised_deviation(torch.tensor([0, 0, 1, 1]), 4) == pytest.approx(1)
    assert normalised_deviation(torch.tensor([2, 2]), 4) == pytest.approx(3**0.5)


def test_deviations_are_those_of_the_papers_sizes_and_folds_as_far_as_the_data_go() -> None:
    found = deviations_by_size(LABELS[:85], 10)
    assert list(found) == [40, 50, 60, 70, 80]
    assert all(len(folds) == 6 for folds in found.values())
    labeled = random(LABELS[:85], 50, 3, True).labeled
    assert found[50][3] == normalised_deviation(LABELS[:85][labeled], 10)


@pytest.mark.parametrize(
    ("total", "share", "counts"),
    [
        (10, [0.5, 0.3, 0.2], [5, 3, 2]),
        (10, [0.44, 0.37, 0.19], [4, 4, 2]),  # 4.4, 3.7, 1.9: the largest remainders are rounded up
        (4, [1 / 3, 1 / 3, 1 / 3], [2, 1, 1]),  # of equal ones, the first
        (0, [0.5, 0.5], [0, 0]),
    ],
)
def test_whole_numbers_follow_shares_as_closely_as_they_can(total: int, share: list[float], counts: list[int]) -> None:
    assert share_out(total, torch.tensor(share, dtype=torch.float64)).tolist() == counts


def test_a_geometric_tail_falls_evenly_from_the_first_class_to_the_last() -> None:
    share = geometric(5, 16.0)
    assert share.sum().item() == pytest.approx(1)
    assert (share[:-1] / share[1:]).tolist() == pytest.approx([2.0] * 4)
