import pytest
import torch
from torch.nn.functional import normalize

from smoothpl.errors import ConfigError
from smoothpl.pseudo import Fixed, Gaussian, Power, Running, Step, Weighting
from smoothpl.pseudo.obstacles import SHAPE_JUMPS
from smoothpl.terms import Pairs
from smoothpl.terms.pairs import TIES
from tests.support.method_checks import step_of


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
    assert Pairs("own").obstacles(step) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"pairs": "firm"}, "terms.pairs.pairs=firm must be"),
        ({"threshold": 1.0}, "terms.pairs.threshold=1.0 must lie"),
        ({"pairs": "own", "threshold": 0.9}, "terms.pairs.threshold=0.9 has no effect with pairs=own"),
    ],
)
def test_what_it_cannot_do_is_said(words: dict[str, float | str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        Pairs(**words)  # type: ignore[arg-type]


def test_own_views_attract_each_other_and_all_others_are_repelled() -> None:
    """NT-Xent: the mean over all 2U views of -log softmax over all but itself, at the other view of its image."""
    one, other = normalize(torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(0)), dim=2)
    step = step_of(weak=torch.randn(5, 3), simclr=torch.zeros(5, 3), simclr2=torch.zeros(5, 3))
    outputs = dict(step.outputs)
    for name, embedding in (("simclr", one), ("simclr2", other)):
        outputs[name] = outputs[name]._replace(heads={"projection": embedding})
    found = Pairs("own", temperature=0.5, views=["simclr", "simclr2"])(step._replace(outputs=outputs))
    views = [*one, *other]
    losses = []
    for i, view in enumerate(views):
        near = torch.stack([(view @ each / 0.5).exp() for j, each in enumerate(views) if j != i])
        losses.append(near.sum().log() - view @ views[(i + 5) % 10] / 0.5)
    torch.testing.assert_close(found, torch.stack(losses).mean())
