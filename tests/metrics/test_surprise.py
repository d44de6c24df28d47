import pytest
import torch

from smoothpl.metrics.surprise import TEMPERATURES, least, surprises


def test_it_is_minus_the_log_of_the_true_class_at_each_temperature() -> None:
    logits, labels = torch.randn(6, 4, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 3, 1, 2, 2, 0])
    found = surprises(logits, labels)
    assert found.shape == (len(TEMPERATURES), 6)
    for temperature, row in zip(TEMPERATURES, found, strict=True):
        expected = -((logits / temperature).softmax(dim=1)[torch.arange(6), labels]).log()
        torch.testing.assert_close(row, expected)


def test_a_network_that_is_too_sure_is_not_worse_for_it() -> None:
    labels = torch.arange(50) % 4
    logits = torch.randn(50, 4, generator=torch.Generator().manual_seed(1)) + torch.eye(4)[labels]
    own, surer = ([surprises(scale * logits, labels).mean(dim=1).tolist()] for scale in (1, 8))
    assert least(surer, [50]) == pytest.approx(least(own, [50]), rel=1e-5)
    assert surer[0][TEMPERATURES.index(1.0)] > 1.5 * least(surer, [50])


def test_parts_have_one_temperature_together_and_count_by_their_images() -> None:
    assert least([[1.0, 4.0], [5.0, 1.0]], [1, 3]) == 1.75
