import math

import pytest

from smoothpl.pseudo.ramps import Ramp


def values(ramp: Ramp, steps: int) -> list[float]:
    found = []
    for _ in range(steps):
        found.append(float(ramp()))
        ramp.see()
    return found


def test_a_ramp_grows_with_the_share_of_the_run_that_is_done() -> None:
    assert values(Ramp(10, until=0.4), 6) == [0, 0.25, 0.5, 0.75, 1, 1]
    assert values(Ramp(4, kind="cosine"), 5) == pytest.approx([(1 - math.cos(math.pi * t / 4)) / 2 for t in range(5)])
    assert values(Ramp(2, kind="sigmoid"), 3) == pytest.approx([math.exp(-5), math.exp(-5 / 4), 1])


def test_its_place_survives_a_checkpoint() -> None:
    ramp, other = Ramp(10), Ramp(10)
    values(ramp, 3)
    other.load_state_dict(ramp.state_dict())
    assert other().equal(ramp())


@pytest.mark.parametrize("settings", [{"kind": "steep"}, {"until": 0.0}, {"until": 1.5}])
def test_a_ramp_that_cannot_be_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"ramp\.(kind|until)="):
        Ramp(10, **settings)  # type: ignore[arg-type]
