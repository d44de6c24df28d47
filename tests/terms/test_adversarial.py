import pytest
import torch
from torch import Tensor, nn

from smoothpl.errors import ConfigError
from smoothpl.pseudo import Everybody, Step, Weighting
from smoothpl.terms import Adversarial
from smoothpl.terms.adversarial import unit
from tests.support.method_checks import step_of


def linear(weight: Tensor) -> nn.Linear:
    network = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    network.weight.data = weight
    return network


def exact_direction(weight: Tensor, image: Tensor, noise: Tensor) -> Tensor:
    """Of a linear network: W^T (diag p - p p^T) W d, made to length 1."""
    p = (weight @ image).softmax(0)
    g = weight.T @ (torch.diag(p) - torch.outer(p, p)) @ weight @ (noise / noise.norm())
    direction: Tensor = g / g.norm()
    return direction


def test_the_direction_is_that_in_which_predictions_change_most() -> None:
    torch.manual_seed(0)
    weight, images, noise = torch.randn(3, 6), torch.randn(4, 6), torch.randn(4, 6)
    network = linear(weight)
    found = Adversarial(xi=1e-2).direction(network, images, noise, network(images).softmax(1).detach())
    for ours, image, drawn in zip(found, images, noise, strict=True):
        assert ours @ exact_direction(weight, image, drawn) > 0.999


def test_it_teaches_what_the_image_is_predicted_as_and_features_of_16_bits_may_be_moved() -> None:
    torch.manual_seed(0)
    network, images = linear(torch.randn(3, 6)), torch.randn(4, 6).half()
    step = step_of(network, images, weak=network(images.float()))
    step = step._replace(batch=step.batch._replace(chance={"noise": torch.randn(4, 6)}))
    loss = Adversarial(xi=0.01)(step)
    assert loss > 0
    (slope,) = torch.autograd.grad(loss, network.weight)
    assert slope.abs().max() > 0


@pytest.mark.parametrize(("softening", "jumps"), [(0.0, True), (1e-4, False)])
def test_where_the_gradient_vanishes_the_direction_jumps_unless_it_is_softened(softening: float, jumps: bool) -> None:
    """The weights turn until the drawn vector changes no prediction, and further: g goes through 0."""
    way = torch.linspace(-1, 1, 1001) / 10
    noise, image = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.3, 0.5]])
    term, found = Adversarial(xi=0.1, softening=softening), []
    for turned in way:
        network = linear(torch.stack([torch.stack([turned, turned.new_tensor(1.0)]), torch.zeros(2)]))
        found.append(term.direction(network, image, noise, network(image).softmax(1).detach())[0])
    largest = torch.stack(found).diff(dim=0).abs().max()
    assert largest > 0.9 if jumps else largest < 0.01
    assert bool(term.obstacles(Weighting(Everybody(), Step()))) == jumps


def test_an_image_without_a_direction_stays_where_it_is() -> None:
    assert not unit(torch.zeros(2, 3), 0.0).any()
    torch.testing.assert_close(unit(torch.tensor([[3.0, 4.0]]), 0.0), torch.tensor([[0.6, 0.8]]))


def test_a_step_of_no_length_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"terms.adversarial: radius=0"):
        Adversarial(radius=0)
