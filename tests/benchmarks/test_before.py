from pathlib import Path

import pytest

from benchmarks import before

ROOT = Path(__file__).parents[2]


def test_two_checkouts_take_turns_at_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(before, "METHODS", ("flexmatch",))
    monkeypatch.setattr(before, "TURNS", 1)
    monkeypatch.setattr(before, "STEPS", 1)
    lines = list(before.lines(ROOT, ("batch_size=2",)))
    assert [line.what for line in lines] == ["a step of flexmatch"]
    assert all(line.ours > 0 and line.reference is not None and line.reference > 0 for line in lines)


@pytest.mark.parametrize("arguments", [[], ["nowhere"]])
def test_what_is_no_checkout_is_said(arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match="name a checkout of smoothpl"):
        before.main(arguments)


def test_a_process_that_fails_ends_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(before, "WORKER", "raise SystemExit(1)")
    with pytest.raises(SystemExit, match="a process has stopped"):
        before.take_turns(ROOT, ROOT, ("method=fixmatch",))
