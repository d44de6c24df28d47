import pytest

from smoothpl.config.compose import compose_checked
from smoothpl.run import methods
from smoothpl.run.build_method import build_method
from tests.support.composing import composed, options

METHODS = [name for name in options("method") if composed(f"method={name}").policy is not None]


def described(name: str) -> methods.Method:
    return methods.describe(name, compose_checked([f"method={name}"]))


def test_every_method_that_has_pseudo_labels_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "describe", lambda name, config: name)
    assert methods.all_methods() == METHODS  # type: ignore[comparison-overlap]
    assert not {"supervised", "fully_supervised"} & {*METHODS}


def test_the_papers_own_is_smooth_and_what_it_came_from_is_not() -> None:
    assert described("smooth").obstacles == []
    fixmatch = described("fixmatch")
    assert fixmatch.obstacles == ["the shape jumps at the threshold: use shape=linear"]
    assert fixmatch.parts == {"policy": "fixed", "shape": "step", "target": "hard"}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_smooth_version_with_any_ramp(name: str) -> None:
    method = described(name)
    words = method.smooth_version.replace("shape=linear", "shape=power").split()
    build_method(compose_checked([*words, "shape.mu=0.3", "smooth=strict"]))
