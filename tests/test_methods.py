import sys
from pathlib import Path

import pytest

from smoothpl import methods
from smoothpl.build import build_weighting
from smoothpl.cli.arguments import compose_checked
from smoothpl.errors import ConfigError
from tests.composing import options

METHODS = [name for name in options("method") if "supervised" not in name]
DOCS = Path(__file__).parents[1] / "docs" / "methods.md"


def test_the_papers_own_is_smooth_and_what_it_came_from_is_not() -> None:
    assert methods.describe("smooth").obstacles == []
    fixmatch = methods.describe("fixmatch")
    assert fixmatch.obstacles == ["the shape jumps at the threshold: use shape=linear"]
    assert fixmatch.parts == {"policy": "fixed", "shape": "step", "target": "hard"}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_smooth_version_with_any_ramp(name: str) -> None:
    method = methods.describe(name)
    words = method.smooth_version.replace("shape=linear", "shape=power").split()
    build_weighting(compose_checked([*words, "shape.mu=0.3", "smooth=strict"]))


def test_the_list_in_the_docs_is_what_the_command_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["methods"])
    methods.main()
    printed = capsys.readouterr().out
    assert printed == DOCS.read_text()
    assert [line[3:] for line in printed.splitlines() if line.startswith("## ")] == METHODS
    assert max(map(len, printed.splitlines())) <= 80


def test_there_is_nothing_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["methods", "shape=linear"])
    with pytest.raises(ConfigError, match="shape=linear has no effect here"):
        methods.main()
