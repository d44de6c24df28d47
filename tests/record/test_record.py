import json
import math
import os
from pathlib import Path

import pytest

from smoothpl.config.recipe import recipe_digest
from smoothpl.errors import ConfigError
from smoothpl.record.record import Evaluation, Record, new_record, read, write
from tests.support.recording import CONFIG, opened


def test_a_finished_run_reads_back_as_it_was_written(tmp_path: Path) -> None:
    with opened(tmp_path / "run") as record:
        assert read(tmp_path / "run").status == "running"
        record.take_history([Evaluation(10, 50.0, [2]), Evaluation(20, 12.5, [])])
        record.confusion = [[1, 0], [0, 1]]
    assert read(tmp_path / "run") == record
    assert record.status == "finished"
    assert record.recipe == recipe_digest(CONFIG)
    assert record.config["split"]["fold"] == record.config["fold"] == 3
    assert record.duration is not None


def test_a_sudden_rise_of_a_settled_network_is_recorded() -> None:
    record = new_record(CONFIG)
    errors = [90.0, 20.0, 40.0, 7.0, 6.5, 15.9, 15.0]
    record.take_history([Evaluation(10 * n, error, []) for n, error in enumerate(errors)])
    assert record.instability == [(50, 6.5, 15.9)]
    assert record.error_gap == pytest.approx(8.5)


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
