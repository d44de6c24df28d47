import pytest
import torch
from torch.nn.functional import kl_div

from smoothpl.errors import ConfigError
from smoothpl.terms import Complement
from tests.support.method_checks import step_of

WEAK, STRONG = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0)).unbind()


def test_images_count_as_far_as_the_lesson_leaves_them_out() -> None:
    weight = torch.tensor([0.0, 1.0, 0.25, 1.0])
    found = Complement()(step_of(weak=WEAK, strong=STRONG)._replace(weight=weight))
    each = kl_div(STRONG.log_softmax(1), (WEAK / 0.5).softmax(1), reduction="none").sum(1)
    torch.testing.assert_close(found, (each[0] + 0.75 * each[2]) / 4)


def test_where_all_images_are_sure_there_is_nothing_left() -> None:
    assert Complement()(step_of(weak=WEAK, strong=STRONG)) == 0


def test_a_temperature_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"terms.complement.temperature=0"):
        Complement(temperature=0)
