import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.pseudo.debiasing import Debiasing
from tests.support.steps import CLASSES, random_steps


def test_labels_are_debiased_by_what_was_predicted_before_and_learned_by_what_is_predicted_now() -> None:
    part, logits = Debiasing(CLASSES, momentum=0.9), torch.randn(5, CLASSES)
    phat = torch.full((CLASSES,), 1 / CLASSES)
    for beliefs in random_steps(20):
        part.see(beliefs)
        before, phat = phat, 0.9 * phat + 0.1 * beliefs.unlabeled.probabilities.mean(0)
        torch.testing.assert_close(part(logits.softmax(1)), (logits - 0.4 * before.log()).softmax(1))
        torch.testing.assert_close(part.for_learning(logits), logits + 0.4 * phat.log())
    assert phat.max() > 1.2 * phat.min()


def test_as_long_as_all_classes_are_predicted_alike_labels_stay() -> None:
    probabilities = torch.randn(5, CLASSES).softmax(1)
    torch.testing.assert_close(Debiasing(CLASSES)(probabilities), probabilities)


def test_a_strength_below_0_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"refine.debiasing: strength=-1"):
        Debiasing(CLASSES, strength=-1)
