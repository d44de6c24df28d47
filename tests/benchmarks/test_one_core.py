from typing import Any

import pytest

from benchmarks import one_core


@pytest.mark.parametrize(("has_it", "targets"), [(True, ["≥ 1.1", "≥ 2", "≥ 2.5"]), (False, ["≥ 1.1"])])
def test_a_processor_without_bfloat16_has_no_lines_for_it(
    has_it: bool, targets: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the constants as they are
    measured: list[tuple[str, ...]] = []

    def against_loop(_: Any, *knobs: str) -> tuple[float, float]:
        measured.append(knobs)
        return 0.2, 0.5

    monkeypatch.setattr(one_core, "data_folder", lambda: "")
    monkeypatch.setattr(one_core, "PlainLoop", lambda *_, **__: None)
    monkeypatch.setattr(one_core, "may_have_it", lambda: has_it)
    monkeypatch.setattr(one_core, "against_loop", against_loop)
    lines = list(one_core.lines())
    assert [line.target for line in lines] == targets
    assert {(line.ours, line.reference, line.unit) for line in lines} == {(200, 500, "ms")}
    assert measured[0] == ()
    assert len(measured) == len(lines)
