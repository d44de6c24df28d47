import sys

import pytest

from smoothpl import methods
from smoothpl.errors import ConfigError
from tests.composing import options


@pytest.fixture
def by_method() -> dict[str, list[str]]:
    return {row[0]: list(row) for row in methods.rows()}


def test_every_method_that_learns_pseudo_labels_is_listed(by_method: dict[str, list[str]]) -> None:
    assert list(by_method) == [name for name in options("method") if "supervised" not in name]


def test_the_papers_own_is_smooth_and_what_it_came_from_is_not(by_method: dict[str, list[str]]) -> None:
    assert by_method["smooth"][2] == "yes"
    assert by_method["fixmatch"][2].startswith("no: the shape jumps")


def test_every_method_but_dash_has_a_smooth_version(by_method: dict[str, list[str]]) -> None:
    assert {name for name, row in by_method.items() if row[4] != "yes"} == {"dash"}
    assert by_method["flexmatch"][3] == "shape=linear score=margin policy.counts=soft"
    assert by_method["softmatch"][3] == "shape=linear score=margin align.teaches=true"


def test_the_list_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["methods"])
    methods.main()
    assert "flexmatch" in capsys.readouterr().out


def test_there_is_nothing_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["methods", "shape=linear"])
    with pytest.raises(ConfigError, match="shape=linear has no effect here"):
        methods.main()
