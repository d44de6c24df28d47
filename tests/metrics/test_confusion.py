import math

import pytest
import torch

from smoothpl.metrics.confusion import (
    balanced_error,
    class_accuracy,
    collapsed_classes,
    error_rate,
    predicted_share,
    share_of_expected,
)


def test_the_error_is_the_share_off_the_diagonal() -> None:
    assert error_rate(torch.tensor([[8, 2], [1, 9]])) == 15.0


def test_class_accuracy_is_the_diagonal_over_the_row() -> None:
    assert class_accuracy(torch.tensor([[8, 2], [1, 4]])).tolist() == [80.0, 80.0]
    assert math.isnan(class_accuracy(torch.tensor([[8, 2], [0, 0]]))[1].item())


def test_a_class_collapses_when_its_column_sums_below_a_fifth() -> None:
    """The paper's example: columns that sum to about 0.37, 0.20 and 0.00 (Sec. 4.4)."""
    rows = torch.tensor([[990, 10, 0], [900, 95, 5], [900, 100, 0]])
    assert collapsed_classes(rows) == [2]
    rows[1] = torch.tensor([910, 85, 5])
    assert collapsed_classes(rows) == [1, 2]


def test_collapse_does_not_depend_on_how_many_images_a_class_has() -> None:
    assert collapsed_classes(torch.tensor([[1000, 0], [8, 2]])) == []
    assert collapsed_classes(torch.tensor([[1000, 0], [9, 1]])) == [1]


def test_a_class_without_images_is_never_called_collapsed() -> None:
    """There is nothing that it should have been predicted for."""
    assert collapsed_classes(torch.tensor([[5, 5], [0, 0]])) == []
    assert collapsed_classes(torch.tensor([[10, 0], [0, 0]])) == []
    assert predicted_share(torch.tensor([[10, 0], [0, 0]])).tolist() == [1, 1]


def test_a_share_is_fair_if_it_is_that_of_what_was_expected() -> None:
    predicted, expected = torch.tensor([60.0, 30.0, 10.0, 0.0]), torch.tensor([6, 1, 3, 0])
    torch.testing.assert_close(share_of_expected(predicted, expected), torch.tensor([1, 3, 1 / 3, 1]))


def test_the_balanced_error_is_the_mean_of_the_errors_of_the_classes_that_are_tested() -> None:
    confusion = torch.tensor([[90, 0, 0], [5, 5, 0], [0, 0, 0]])
    assert balanced_error(confusion) == pytest.approx((0 + 50) / 2)
    assert error_rate(confusion) == pytest.approx(5)
