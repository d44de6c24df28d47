import math

import pytest
import torch

from smoothpl.pseudo import Sharpened, pseudo_labels
from tests.support.composing import build, options

LOGITS = torch.tensor([[1.0, 2.0, 0.5], [3.0, -1.0, 0.0]])


def test_a_hard_target_is_the_dominant_class() -> None:
    assert build("target", "hard")(pseudo_labels(LOGITS)).tolist() == [1, 0]


def test_a_soft_target_is_all_probabilities() -> None:
    torch.testing.assert_close(build("target", "soft")(pseudo_labels(LOGITS)), LOGITS.softmax(dim=1))


@pytest.mark.parametrize("temperature", [0.1, 0.4, 1.0, 2.0])
def test_a_sharpened_target_is_the_softmax_at_its_temperature(temperature: float) -> None:
    expected = (LOGITS / temperature).softmax(dim=1)
    torch.testing.assert_close(Sharpened(temperature)(pseudo_labels(LOGITS)), expected)


@pytest.mark.parametrize("name", options("target"))
def test_no_gradient_comes_back_from_a_target(name: str) -> None:
    assert not build("target", name)(pseudo_labels(LOGITS.clone().requires_grad_())).requires_grad


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan])
def test_a_temperature_must_be_positive(temperature: float) -> None:
    with pytest.raises(ValueError, match=r"target\.temperature=.*target=hard"):
        Sharpened(temperature)
