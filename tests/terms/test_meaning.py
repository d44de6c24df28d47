import pytest
import torch

from smoothpl.pseudo import Fixed, Weighting
from smoothpl.pseudo.shapes import Power
from smoothpl.terms import Meaning
from tests.support.method_checks import step_of

WEAK = torch.tensor([[0.6, 0.3, 0.08, 0.02], [0.4, 0.3, 0.2, 0.1]]).log()
STRONG = torch.tensor([[0.2, 0.5, 0.2, 0.1], [0.3, 0.3, 0.2, 0.2]]).log()


def binary(target: float, probability: float) -> float:
    both = torch.tensor([probability, 1 - probability]).log() * torch.tensor([target, 1 - target])
    return -both.sum().item()


def test_what_is_left_is_shared_among_the_others_in_question() -> None:
    """k is 3, as two classes of the first strong view are above or at 0.2: 0.5 alone is, and 2 is the least."""
    step = step_of(weak=WEAK, strong=STRONG)._replace(weight=torch.tensor([1.0, 0.0]))
    assert Meaning(0.95)(step).item() == pytest.approx(binary(0.5, 0.5))
    all_sure = step._replace(weight=torch.ones(2))
    assert Meaning(0.95)(all_sure).item() == pytest.approx((binary(0.5, 0.5) + binary(0.3, 0.3)) / 2)


def test_it_is_nothing_where_no_image_is_sure_and_softly_it_fades() -> None:
    step = step_of(weak=WEAK, strong=STRONG)
    values = []
    for share in (1.0, 0.5, 0.0):
        weighed = step._replace(weight=torch.full((2,), share))
        values.append(Meaning(0.95, ranks="soft")(weighed).item())
    assert values == pytest.approx([values[0], values[0] / 2, 0])
    assert values[0] > 0
    assert Meaning(0.95)(step._replace(weight=torch.zeros(2))) == 0


def test_its_target_has_a_gradient() -> None:
    """Were the target fixed, binary cross-entropy would have none where both are equal: with k = 2 they always are."""
    strong = STRONG.clone().requires_grad_()
    step = step_of(weak=WEAK, strong=strong)._replace(weight=torch.ones(2))
    (slope,) = torch.autograd.grad(Meaning(0.95)(step), strong)
    assert slope.abs().max() > 1e-3


def test_it_takes_labels_for_granted_and_jumps_as_published() -> None:
    weighting = Weighting(Fixed(0.95), Power())
    assert Meaning.is_hard
    (reason,) = Meaning(0.95).obstacles(weighting)
    assert str(reason).endswith("jump: use terms.meaning.ranks=soft")
    assert not Meaning(0.95, ranks="soft").obstacles(weighting)
