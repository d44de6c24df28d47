import pytest

from smoothpl.backbones import installed


def test_all_packages_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert installed.is_installed()
    monkeypatch.setattr(installed, "NEEDED", (*installed.NEEDED, "no_such_package"))
    assert not installed.is_installed()
