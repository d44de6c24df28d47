from smoothpl.pseudo import Everybody, Fixed, Power, Step, Weighting
from smoothpl.pseudo.obstacles import SHAPE_JUMPS
from smoothpl.terms import Graph


def test_it_needs_what_it_compares() -> None:
    assert Graph().needs == {"strong2", "projection"}
    assert Graph().whole_batch


def test_its_threshold_jumps_with_the_shape_also_where_the_policy_has_none() -> None:
    for policy in (Fixed(0.95), Everybody()):
        assert Graph().obstacles(Weighting(policy, Step())) == [SHAPE_JUMPS]
        assert not Graph().obstacles(Weighting(policy, Power()))
