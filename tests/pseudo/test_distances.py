import pytest
import torch
from torch.nn.functional import cross_entropy, kl_div, one_hot

from smoothpl.pseudo.distances import Alpha, CrossEntropy, Distance, KullbackLeibler, Squared

CHANCE = torch.Generator().manual_seed(0)
LOGITS = torch.randn(6, 4, generator=CHANCE)
SOFT = torch.randn(6, 4, generator=CHANCE).softmax(1)
HARD = torch.tensor([0, 1, 2, 3, 0, 1])


@pytest.mark.parametrize("distance", [CrossEntropy(), Squared(), KullbackLeibler(), Alpha(1.5)])
def test_a_class_is_a_certain_probability(distance: Distance) -> None:
    torch.testing.assert_close(distance(LOGITS, HARD), distance(LOGITS, one_hot(HARD, 4).float()))
    assert distance(LOGITS, SOFT).shape == (6,)


@pytest.mark.parametrize("distance", [Squared(), KullbackLeibler(), Alpha(0.5), Alpha(1.5)])
def test_there_is_no_distance_to_oneself(distance: Distance) -> None:
    logits = SOFT.log()
    torch.testing.assert_close(distance(logits, SOFT), torch.zeros(6), atol=1e-6, rtol=0)
    assert (distance(LOGITS, SOFT) > 0).all()


def test_they_are_what_their_names_say() -> None:
    torch.testing.assert_close(CrossEntropy()(LOGITS, SOFT), cross_entropy(LOGITS, SOFT, reduction="none"))
    torch.testing.assert_close(
        KullbackLeibler()(LOGITS, SOFT), kl_div(LOGITS.log_softmax(1), SOFT, reduction="none").sum(1)
    )
    torch.testing.assert_close(Squared()(LOGITS, SOFT), ((LOGITS.softmax(1) - SOFT) ** 2).mean(1))
    torch.testing.assert_close(Alpha(1.001)(LOGITS, SOFT), KullbackLeibler()(LOGITS, SOFT), rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("alpha", [0, 1, -2])
def test_an_alpha_that_cannot_be_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match=rf"distance\.alpha={alpha} must be positive and not 1"):
        Alpha(alpha)
