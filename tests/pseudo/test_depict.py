import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.pseudo import Fixed, Step, Weighting
from smoothpl.pseudo.depict import Depict
from smoothpl.pseudo.labels import from_probabilities
from smoothpl.run.build import build_module
from tests.support.composing import TINY, composed

P = torch.tensor([[0.8, 0.2], [0.8, 0.2], [0.9, 0.1]])


def test_what_is_frequent_is_taught_less() -> None:
    evened = P / torch.tensor([2.5, 0.5]).sqrt()
    torch.testing.assert_close(Depict()(P), evened / evened.sum(1, keepdim=True))
    even = torch.tensor([[0.7, 0.3], [0.3, 0.7]])
    torch.testing.assert_close(Depict()(even), even)


def test_it_is_taught_and_does_not_weigh() -> None:
    weighting = Weighting(Fixed(0.85), Step(), refine=[Depict()])
    pseudo = from_probabilities(P)
    assert weighting(pseudo).tolist() == [0, 0, 1]
    assert weighting.lessons(pseudo).probabilities.equal(Depict()(P))


def test_it_needs_whole_steps() -> None:
    with pytest.raises(ConfigError, match=r"accumulate=2: .* compares the images of a whole step"):
        build_module(composed(*TINY, "method=fixmatch", "target=soft", "refine=[depict]", "accumulate=2"))
