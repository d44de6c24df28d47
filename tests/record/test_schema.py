import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from smoothpl.errors import ConfigError
from smoothpl.record.record import SCHEMA, Evaluation, Record, read, to_json
from tests.support.made_up import made_up


def written(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(to_json(made_up("smooth", 0, 5.0)))
    return found | changes


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ([1, 2], "is not a record of smoothpl"),
        ({"name": "foreign", "version": 3}, "is not a record of smoothpl"),
        (written(schema=99), f"has schema 99, and this version of smoothpl reads schemas 1 to {SCHEMA}"),
        (written(schema="new"), "has schema new"),
        (written(color="red"), "has a field that no record has: color"),
        (written(error="low"), "is damaged: error is 'low'"),
        (written(history=[3]), "is damaged: history is"),
        (written(num_test=None), "is damaged: num_test is 'None'"),
        (written(num_test=True), "is damaged: num_test is 'True'"),
        (written(instability=[[1, 2]]), "is damaged: instability is"),
    ],
)
def test_what_is_no_record_is_refused_by_name(tmp_path: Path, content: Any, complaint: str) -> None:
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=f"run.json {complaint}.*; move it away"):
        read(tmp_path)


def test_an_older_record_is_read_and_says_nothing_that_it_did_not_know(tmp_path: Path) -> None:
    old = written(schema=1, history=[{"step": 5, "error": 3.0, "collapsed": []}])
    for name in (
        "turns",
        "instability",
        "image_size",
        "reliability",
        "calibration_error",
        "versions",
        "commit",
        "started",
    ):
        del old[name]
    (tmp_path / "run.json").write_text(json.dumps(old))
    record = read(tmp_path)
    assert (record.schema, record.turns, record.versions, record.commit, record.started) == (SCHEMA, [], {}, None, "")
    assert record.history == [Evaluation(5, 3.0, [])]


def test_every_field_is_documented_and_no_other() -> None:
    text = (Path(__file__).parents[2] / "docs" / "record.md").read_text()
    documented = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    assert documented == [field.name for field in fields(Record)]
