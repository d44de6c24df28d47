import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import log_softmax

from smoothpl.nets import probe as probe_file
from smoothpl.nets.probe import Numbers, Probe, fit_probe, fit_temperature, held_out_logits, regression, surprise


def labeled(counts: list[int], seed: int = 0, views: int = 2, apart: float = 3.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Clouds around one corner for each class."""
    chance = torch.Generator().manual_seed(seed)
    labels = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    corners = apart * torch.eye(len(counts), 5)
    return corners[labels].unsqueeze(1) + torch.randn(len(labels), views, 5, generator=chance), labels


def accuracy(probe: Probe, features: torch.Tensor, labels: torch.Tensor) -> float:
    logits = features[:, 0] @ probe.weight.T + probe.bias
    return float((logits.argmax(dim=1) == labels).float().mean())


@pytest.mark.parametrize("counts", [[6, 6, 6], [6, 6], [1, 4, 4], [1, 1, 1]])
def test_a_probe_tells_clouds_apart_also_two_and_with_single_images(counts: list[int]) -> None:
    features, labels = labeled(counts, apart=6.0)
    probe = fit_probe(features, labels, len(counts))
    assert accuracy(probe, *labeled([50] * len(counts), seed=1, apart=6.0)) > 0.85
    assert probe.temperature == 1.0 or min(counts) > 1


def test_it_is_the_minimum_of_the_penalised_loss() -> None:
    """Found here by another optimiser: C times the sum of -log p, plus half of the squared weights."""
    features, labels = labeled([5, 5, 5], views=1)
    rows = features[:, 0].double().numpy()

    def loss(numbers: np.ndarray) -> float:
        weight, bias = numbers[:15].reshape(3, 5), numbers[15:]
        logs = log_softmax(rows @ weight.T + bias, axis=1)[np.arange(15), labels.numpy()]
        return float(-0.1 * logs.sum() + (weight**2).sum() / 2)

    best = minimize(loss, np.zeros(18), method="BFGS")
    fitted = regression(0.1).fit(rows, labels.numpy())
    np.testing.assert_allclose(fitted.coef_, best.x[:15].reshape(3, 5), atol=2e-3)


def test_a_class_without_labels_is_never_the_first_guess_of_nothing() -> None:
    features, labels = labeled([5, 5])
    probe = fit_probe(features, 2 * labels, num_classes=4)  # classes 0 and 2
    assert probe.weight[[1, 3]].eq(0).all()
    assert probe.bias[[1, 3]].eq(probe.bias[[0, 2]].min()).all()


def test_one_class_alone_is_always_guessed() -> None:
    features, labels = labeled([4])
    probe = fit_probe(features, labels + 1, num_classes=3)
    assert probe.bias.tolist() == [0, 1, 0]


def test_the_temperature_makes_held_out_labels_least_surprising() -> None:
    chance = np.random.default_rng(0)
    logits = chance.normal(size=(400, 3)) * 2
    label = np.array([chance.choice(3, p=np.exp(row) / np.exp(row).sum()) for row in logits])
    found = fit_temperature(5 * logits, label)  # five times too sure
    assert 4 < found < 6
    grid = [surprise(5 * logits, label, temperature) for temperature in np.linspace(0.5, 10, 200)]
    assert surprise(5 * logits, label, found) <= min(grid) + 1e-6


def test_labels_that_are_all_right_do_not_cool_without_end() -> None:
    assert 1 / 32 <= fit_temperature(np.eye(3) * 9, np.arange(3)) < 1


def test_the_views_of_an_image_are_never_in_two_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise an image would be tested by a regression that has seen it."""
    seen: list[tuple[set[int], set[int]]] = []

    def spy(strength: float, rows: Numbers, label: Numbers, folds: list[tuple[Numbers, Numbers]]) -> Numbers:
        seen.extend(({*(train // 4)}, {*(test // 4)}) for train, test in folds)
        return held_out_logits(strength, rows, label, folds)

    monkeypatch.setattr(probe_file, "held_out_logits", spy)
    fit_probe(*labeled([5, 5, 5], views=4), 3)
    assert len(seen) == 5 * len(probe_file.STRENGTHS)
    assert all(not train & test and len(train | test) == 15 for train, test in seen)
