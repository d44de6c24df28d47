from unittest.mock import Mock

import torch

from smoothpl.pseudo import Beliefs, pseudo_labels
from smoothpl.pseudo.train_step import TrainStep


def test_pseudo_labels_of_a_step_are_those_of_its_teacher() -> None:
    pseudo = pseudo_labels(torch.randn(4, 3))
    beliefs = Beliefs(pseudo, torch.eye(3), torch.arange(3))
    step = TrainStep(Mock(), {}, beliefs, torch.zeros(4), pseudo, Mock(), Mock())
    assert step.pseudo is pseudo
