import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from smoothpl.losses import both, factor_loss, labeled_loss, smooth_pseudo_label_potential, unlabeled_loss
from smoothpl.pseudo import Power, Shape, Step, pseudo_labels


def negative_log(logits: Tensor, row: int, label: int) -> float:
    scores = [math.exp(value) for value in logits[row].tolist()]
    return -math.log(scores[label] / sum(scores))


def test_the_labeled_loss_is_the_mean_cross_entropy() -> None:
    logits, label = torch.randn(5, 4), torch.tensor([0, 3, 2, 2, 1])
    expected = sum(negative_log(logits, row, int(label[row])) for row in range(5)) / 5
    assert math.isclose(labeled_loss(logits, label).item(), expected, rel_tol=1e-5)


@pytest.mark.parametrize("shape", [Step(), Power(), Power(2), Power(0.5)], ids=str)
def test_the_unlabeled_loss_is_the_papers_over_all_images_also_those_of_weight_0(shape: Step | Power) -> None:
    weak, strong, tau = 3 * torch.randn(50, 4), torch.randn(50, 4), 0.8
    total = 0.0
    for row in range(50):
        scores = weak[row].exp() / weak[row].exp().sum()
        sigma, label = scores.max().item(), int(scores.argmax())
        phi = float(sigma > tau) if isinstance(shape, Step) else (max(sigma - tau, 0) / (1 - tau)) ** shape.mu
        total += phi * negative_log(strong, row, label)
    pseudo = pseudo_labels(weak)
    weight = shape(pseudo.confidence, torch.full((50,), tau))
    assert 0 < (weight > 0).sum() < 50
    assert math.isclose(unlabeled_loss(strong, pseudo.label, weight).item(), total / 50, rel_tol=1e-4)


def test_the_unlabeled_loss_accepts_probabilities_as_targets() -> None:
    logits, label, weight = torch.randn(6, 4), torch.randint(4, (6,)), torch.rand(6)
    one_hot = torch.nn.functional.one_hot(label, 4).float()
    torch.testing.assert_close(unlabeled_loss(logits, one_hot, weight), unlabeled_loss(logits, label, weight))


def test_the_factor_loss_is_minus_the_square_whose_gradient_counts_once() -> None:
    weight = torch.tensor([0.0, 0.5, 1.0], requires_grad=True)
    loss = factor_loss(weight)
    loss.backward()  # type: ignore[no-untyped-call]
    assert math.isclose(loss.item(), -(0.25 + 1) / 3, rel_tol=1e-6)
    torch.testing.assert_close(weight.grad, -weight.detach() / 3)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 2.0])
def test_the_factor_loss_has_a_finite_gradient_for_every_power(mu: float) -> None:
    confidence = torch.tensor([0.2, 0.95, 0.95001, 1.0], requires_grad=True)
    factor_loss(Power(mu)(confidence, torch.full((4,), 0.95))).backward()  # type: ignore[no-untyped-call]
    assert confidence.grad is not None
    assert confidence.grad.isfinite().all()


@pytest.mark.parametrize("tau", [0.5, 0.75, 0.95])
def test_the_closed_form_has_the_derivative_of_smooth_pseudo_labeling(tau: float) -> None:
    sigma = torch.linspace(0.3, 1, 701, dtype=torch.float64).requires_grad_()
    (of_closed_form,) = torch.autograd.grad(smooth_pseudo_label_potential(sigma, tau).sum(), sigma)
    phi = Power()(sigma.detach(), torch.full_like(sigma, tau))
    (of_loss,) = torch.autograd.grad((phi * sigma.log()).sum(), sigma)
    torch.testing.assert_close(of_closed_form, of_loss)


def test_the_closed_form_is_the_papers_two_cases() -> None:
    tau = 0.75
    sigma = torch.tensor([0.1, 0.75, 0.8, 1.0], dtype=torch.float64)
    below = (1 - tau + tau * math.log(tau)) / (tau - 1)
    above = [(1 - s + tau * math.log(s)) / (tau - 1) for s in (0.8, 1.0)]
    expected = torch.tensor([below, below, *above], dtype=torch.float64)
    torch.testing.assert_close(smooth_pseudo_label_potential(sigma, tau), expected)


@pytest.mark.parametrize("shape", [Step(), Power(1), Power(2), Power(0.5)])
def test_the_gradient_is_continuous_where_an_image_crosses_the_threshold(shape: Shape) -> None:
    """Through a real network: one weight is moved until the confidence of an image passes tau. Only a step jumps."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    weak, strong = torch.randn(1, 4).double(), torch.randn(1, 4).double()
    moved = network[2].bias
    assert isinstance(moved, nn.Parameter)

    def confidence(value: float) -> float:
        with torch.no_grad():
            moved[0] = value
        return float(network(weak).detach().softmax(dim=1).max())

    def gradient(value: float) -> torch.Tensor:
        confidence(value)
        network.zero_grad()
        probability = network(weak).detach().softmax(dim=1)  # in double: the crossing is finer than float32
        sigma, label = probability.max(dim=1)
        loss = (
            shape(sigma, torch.tensor([0.9], dtype=torch.float64)) * functional.cross_entropy(network(strong), label)
        ).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        return torch.cat([parameter.grad.flatten() for parameter in network.parameters()])  # type: ignore[union-attr]

    low, high = 0.0, 20.0
    for _ in range(60):  # bisection
        middle = (low + high) / 2
        low, high = (middle, high) if confidence(middle) < 0.9 else (low, middle)
    jump = (gradient(high + 1e-9) - gradient(high - 1e-9)).norm()
    assert (jump > 1e-3) == isinstance(shape, Step)


def test_mixed_precision_changes_no_bit_of_a_loss() -> None:
    logits, label, weight = torch.randn(6, 4), torch.randint(4, (6,)), torch.rand(6)
    soft = torch.randn(6, 4).softmax(dim=1)

    def losses() -> list[Tensor]:
        unlabeled = [unlabeled_loss(logits, target, weight) for target in (label, soft)]
        return [labeled_loss(logits, label), labeled_loss(logits, label, weight), *unlabeled, factor_loss(weight)]

    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = losses()
    assert all(map(torch.equal, found, losses()))


def test_weights_for_two_reasons_are_multiplied_and_none_is_no_weight() -> None:
    one, other = torch.tensor([0.5, 1.0]), torch.tensor([0.5, 0.0])
    assert both(None, None) is None
    assert both(one, None) is one
    assert both(None, other) is other
    product = both(one, other)
    assert product is not None
    assert product.tolist() == [0.25, 0.0]
