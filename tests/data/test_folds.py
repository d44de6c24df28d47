import pytest
import torch

from smoothpl.data import balanced, digits
from smoothpl.errors import ConfigError

LABELS = digits().train.labels


@pytest.mark.parametrize("fold", range(6))
@pytest.mark.parametrize("num_labels", [10, 40, 250])
def test_balanced_gives_every_class_the_same_number_of_labels(fold: int, num_labels: int) -> None:
    labeled = balanced(LABELS, num_labels, 10, fold, True).labeled
    assert LABELS[labeled].bincount(minlength=10).tolist() == [num_labels // 10] * 10
    assert labeled.unique().numel() == num_labels


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
    with pytest.raises(ConfigError, match=f"use at most num_labels={smallest * 10}"):
        balanced(LABELS, 2000, 10, 0, True)
    assert len(balanced(LABELS, smallest * 10, 10, 0, True).labeled) == smallest * 10
