import math

import pytest

from smoothpl.errors import DivergenceError
from smoothpl.metrics.finite import check_finite


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_an_error_with_the_step_and_all_terms(bad: float) -> None:
    check_finite({"loss": 2.5}, 7)
    with pytest.raises(
        DivergenceError, match=r"diverged by step 7: loss 2.5, labeled_loss (nan|inf|-inf)\. Try a lower"
    ):
        check_finite({"loss": 2.5, "labeled_loss": bad}, 7)
