import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.pseudo.aligning import entropy
from smoothpl.pseudo.dual_alignment import DualAlignment
from smoothpl.pseudo.labels import Beliefs, from_probabilities
from tests.support.steps import CLASSES, random_steps

COUNTS = torch.arange(1, CLASSES + 1)


def test_what_it_gives_is_the_belief_tilted_by_duals_that_climb() -> None:
    """nu <- nu + 0.1 (mean x - share), x_ic = p_ic exp(-nu_c H_i) over its sum."""
    part, duals = DualAlignment(CLASSES), torch.zeros(CLASSES)
    part.prepare(COUNTS)

    def by_hand(p: torch.Tensor) -> torch.Tensor:
        moved = p * torch.exp(-duals * entropy(p))
        return moved / moved.sum(1, keepdim=True)

    for beliefs in random_steps(100):
        p = beliefs.unlabeled.probabilities
        duals = duals + 0.1 * (by_hand(p).mean(0) - COUNTS / COUNTS.sum())
        part.see(beliefs)
        torch.testing.assert_close(part.duals, duals)
        torch.testing.assert_close(part(p), by_hand(p))
    assert duals.abs().max() > 0.1


def test_in_time_classes_have_their_sizes() -> None:
    part = DualAlignment(CLASSES, rate=1.0)
    part.prepare(COUNTS)
    chance = torch.Generator().manual_seed(2)
    p = (torch.randn(500, CLASSES, generator=chance) + torch.linspace(2, -2, CLASSES)).softmax(1)
    beliefs = Beliefs(from_probabilities(p), p, torch.zeros(500, dtype=torch.long))
    for _ in range(500):
        part.see(beliefs)
    torch.testing.assert_close(part(p).mean(0), COUNTS / COUNTS.sum(), rtol=1e-2, atol=1e-3)


def test_at_rate_0_beliefs_stay() -> None:
    part = DualAlignment(CLASSES, rate=0)
    for beliefs in random_steps(5):
        part.see(beliefs)
        torch.testing.assert_close(part(beliefs.unlabeled.probabilities), beliefs.unlabeled.probabilities)


def test_a_class_without_labels_and_a_negative_rate_are_refused() -> None:
    with pytest.raises(ConfigError, match="class 0 has none"):
        DualAlignment(CLASSES).prepare(torch.arange(CLASSES))
    with pytest.raises(ConfigError, match="rate=-1"):
        DualAlignment(CLASSES, rate=-1)
