import pytest
import torch

from smoothpl.pseudo import Fixed, PseudoLabels, ThresholdPolicy
from tests.composing import build, options

PSEUDO = PseudoLabels(torch.tensor([0, 1, 2]), torch.tensor([0.3, 0.96, 0.99]))


@pytest.mark.parametrize("name", options("policy"))
def test_every_policy_has_a_threshold_for_every_image(name: str) -> None:
    policy = build("policy", name)
    assert isinstance(policy, ThresholdPolicy)
    threshold = policy(PSEUDO)
    assert threshold.shape == (3,)
    assert ((threshold >= 0) & (threshold < 1)).all()


def test_a_fixed_threshold_stays_where_it_is() -> None:
    policy = Fixed(0.7)
    policy.observe(PSEUDO)
    torch.testing.assert_close(policy(PSEUDO), torch.full((3,), 0.7))
