import json
import math
import os
import shutil
from pathlib import Path

import pytest

from smoothpl.errors import ConfigError
from smoothpl.recipe import recipe_digest
from smoothpl.results import record as module
from smoothpl.results.record import Evaluation, Record, current_commit, new_record, open_record, read, write
from tests.composing import composed

CONFIG = composed("fold=3", "seed=1")


def test_a_finished_run_reads_back_as_it_was_written(tmp_path: Path) -> None:
    with open_record(tmp_path / "run", new_record(CONFIG, "recipe")) as record:
        assert read(tmp_path / "run").status == "running"
        record.take_history([Evaluation(10, 50.0, [2]), Evaluation(20, 12.5, [])])
        record.confusion = [[1, 0], [0, 1]]
    assert read(tmp_path / "run") == record
    assert record.status == "finished"
    assert record.recipe == recipe_digest(CONFIG)
    assert record.config["split"]["fold"] == record.config["fold"] == 3
    assert record.duration is not None


def test_a_failed_run_has_a_record_that_says_why(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), open_record(tmp_path, new_record(CONFIG, "recipe")):
        raise RuntimeError("out of luck")
    assert (read(tmp_path).status, read(tmp_path).failure) == ("failed", "RuntimeError: out of luck")


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_run_is_not_called_failed(tmp_path: Path, interruption: type[BaseException]) -> None:
    with pytest.raises(interruption), open_record(tmp_path, new_record(CONFIG, "recipe")):
        raise interruption
    assert read(tmp_path).status == "interrupted"


def test_two_runs_never_share_a_directory(tmp_path: Path) -> None:
    with open_record(tmp_path, new_record(CONFIG, "first")):
        pass
    with pytest.raises(ConfigError, match="already holds a run"), open_record(tmp_path, new_record(CONFIG, "second")):
        pass
    assert read(tmp_path).name == "first"


def test_two_processes_never_work_in_the_same_directory(tmp_path: Path) -> None:
    record = new_record(CONFIG)
    going_on = pytest.raises(ConfigError, match="is still going on")
    with open_record(tmp_path, record), going_on, open_record(tmp_path, record, resumes=True):
        pass
    with open_record(tmp_path, record, resumes=True):
        pass


def test_the_time_of_all_lives_is_added_up(tmp_path: Path) -> None:
    record = new_record(CONFIG)
    record.duration = 1000.0
    with open_record(tmp_path, record):
        pass
    assert 1000 <= record.duration < 1100


def test_a_write_that_fails_leaves_the_old_record_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, Record({}, "old"))

    def no_space(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        write(tmp_path, Record({}, "new"))
    assert read(tmp_path).recipe == "old"


def test_the_last_error_leads_and_the_others_are_for_information() -> None:
    record = Record({}, "recipe")
    record.take_history([Evaluation(step, float(error), []) for step, error in enumerate([1, *range(30, 5, -1), 9])])
    assert record.error == 9
    assert record.error_best == 1
    assert record.error_median20 == 14.5  # of 24, 23, ..., 6 and 9


def test_numbers_that_json_cannot_say_become_null(tmp_path: Path) -> None:
    record = Record({}, "recipe", metrics={"train/loss": math.nan}, class_accuracy=[math.inf, 1.0])
    write(tmp_path, record)
    assert json.loads((tmp_path / "run.json").read_text())["metrics"] == {"train/loss": None}
    assert read(tmp_path).class_accuracy == [None, 1.0]


def test_a_record_of_another_schema_is_refused(tmp_path: Path) -> None:
    write(tmp_path, Record({}, "recipe", schema=99))
    with pytest.raises(ConfigError, match="schema 99"):
        read(tmp_path)


def test_a_damaged_record_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"schema": 1, ')
    with pytest.raises(ConfigError, match=r"run\.json is damaged"):
        read(tmp_path)


def test_versions_and_commit_are_on_record() -> None:
    record = Record({}, "recipe")
    assert {"python", "torch", "lightning", "smoothpl"} <= set(record.versions)
    in_checkout = (Path(module.__file__).parents[2] / ".git").exists() and shutil.which("git")
    assert (record.commit is not None) == bool(in_checkout)


def test_an_installed_package_has_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "__file__", str(tmp_path / "smoothpl" / "results" / "record.py"))
    assert current_commit() is None
    (tmp_path / ".git").mkdir()  # broken, or git is not there: no reason to stop a run
    assert current_commit() is None
