import pytest

from smoothpl.errors import ConfigError
from smoothpl.pseudo import Fixed, Gaussian, Power, Running, Step, Weighting
from smoothpl.pseudo.obstacles import SHAPE_JUMPS
from smoothpl.terms import Pairs
from smoothpl.terms.pairs import TIES


def test_hard_pairs_are_continuous_only_where_ties_weigh_nothing() -> None:
    step, ramp, bell = (
        Weighting(Fixed(0.95), Step()),
        Weighting(Fixed(0.95), Power()),
        Weighting(Running(10), Gaussian()),
    )
    assert Pairs().obstacles(ramp) == [TIES]
    assert Pairs(threshold=0.4).obstacles(ramp) == [TIES]
    assert Pairs(threshold=0.5).obstacles(bell) == [TIES]
    assert Pairs(threshold=0.5).obstacles(step) == [SHAPE_JUMPS]
    assert Pairs(threshold=0.4).obstacles(Weighting(Fixed(0.95), Power(), floor=0.5)) == []
    assert Pairs(threshold=0.5).obstacles(ramp) == []
    assert Pairs("soft").obstacles(step) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [({"pairs": "firm"}, "terms.pairs.pairs=firm must be"), ({"threshold": 1.0}, "terms.pairs.threshold=1.0 must lie")],
)
def test_what_it_cannot_do_is_said(words: dict[str, float | str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        Pairs(**words)  # type: ignore[arg-type]
