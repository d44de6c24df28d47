from unittest.mock import Mock

import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.nets.output import Output
from smoothpl.run.build_method import build_method
from smoothpl.terms import Far
from tests.support.composing import composed

EAST, NORTH, BETWEEN = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 3.0]), torch.tensor([2.0, 2.0])


def test_views_that_look_alike_are_pushed_apart_until_they_are_at_a_right_angle() -> None:
    weak, strong = torch.stack([EAST, EAST, EAST, EAST]), torch.stack([EAST, NORTH, BETWEEN, -EAST])
    heads = {"weak": weak, "strong": strong}
    outputs = {name: Output(each, heads={"distance": each}) for name, each in heads.items()}
    step = Mock(outputs=outputs, weight=torch.tensor([1.0, 1.0, 0.5, 1.0]))
    torch.testing.assert_close(Far()(step), torch.tensor((1 + 0.5 * 0.5**0.5) / 4))
    torch.testing.assert_close(Far(hinge="squared")(step), torch.tensor((1 + 0.5 * 0.5) / 4))


def test_what_it_lacks_is_named() -> None:
    with pytest.raises(ConfigError, match=r"terms\.far needs distance"):
        build_method(composed("method=fixmatch", "terms=[far]"))
    with pytest.raises(ConfigError, match=r"terms\.far\.hinge=soft must be plain"):
        Far(hinge="soft")
    with pytest.raises(ConfigError, match=r"forward=split leaves .*, which terms\.far needs"):
        build_method(composed("method=crmatch", "forward=split"))
