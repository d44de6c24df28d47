import shutil
from pathlib import Path

import pytest

from smoothpl.record import versions as module
from smoothpl.record.record import Record
from smoothpl.record.versions import current_commit


def test_versions_and_commit_are_on_record() -> None:
    record = Record({}, "recipe")
    assert {"python", "torch", "lightning", "smoothpl"} <= set(record.versions)
    in_checkout = (Path(module.__file__).parents[2] / ".git").exists() and shutil.which("git")
    assert (record.commit is not None) == bool(in_checkout)


def test_an_installed_package_has_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "__file__", str(tmp_path / "smoothpl" / "record" / "versions.py"))
    assert current_commit() is None
    (tmp_path / ".git").mkdir()  # broken, or git is not there: no reason to stop a run
    assert current_commit() is None
