import torch

from smoothpl.terms import Entropy
from tests.support.method_checks import step_of


def test_it_is_the_mean_entropy_of_a_view_and_has_its_gradient() -> None:
    logits = torch.tensor([[0.0, 0.0], [50.0, -50.0]], requires_grad=True)
    entropy = Entropy()(step_of(weak=logits))
    torch.testing.assert_close(entropy, torch.tensor(2.0).log() / 2)
    (slope,) = torch.autograd.grad(entropy, logits)
    assert torch.isfinite(slope).all()


def test_it_needs_the_view_that_it_is_of() -> None:
    assert Entropy("medium").needs == {"medium"}
    assert not Entropy().needs
