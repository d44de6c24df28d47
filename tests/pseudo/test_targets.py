import torch

from smoothpl.pseudo import PseudoLabels
from tests.composing import build


def test_a_hard_target_is_the_dominant_class() -> None:
    pseudo = PseudoLabels(torch.tensor([2, 0]), torch.tensor([0.4, 0.9]))
    assert build("target", "hard")(pseudo).tolist() == [2, 0]
