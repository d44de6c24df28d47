import json
from pathlib import Path
from typing import Any

import pytest

from smoothpl.record.record import SCHEMA, new_record, read, to_json
from smoothpl.record.upgrade import upgraded
from tests.support.composing import OWN, composed

OLDER = range(1, 6)


def of_schema(schema: int) -> dict[str, Any]:
    """A record of data=folder as it was written then."""
    overrides = ["data=folder", "data.images_digest=a1", "data.labels_digest=a2", "fold=1"]
    fields: dict[str, Any] = json.loads(to_json(new_record(composed("benchmark=folder", *OWN), "name", overrides)))
    fields["schema"] = schema
    fields["overrides"] = ["data=folder", "data.album=a1", "data.told=a2", "fold=1"]
    for part in (fields["config"]["data"], fields["config"]["data"]["source"]):
        part["album"], part["told"] = part.pop("images_digest"), part.pop("labels_digest")
    fields["calibration"], fields["falls"] = {"unlabeled_weight": 1.17}, [[50, 6.5, 15.9]]
    for name in ("equilibrium", "instability", "image_size"):
        del fields[name]
    return fields


@pytest.mark.parametrize("schema", OLDER)
def test_an_older_record_is_read_under_todays_names(schema: int, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(of_schema(schema)))
    record = read(tmp_path)
    assert record.schema == SCHEMA
    assert record.equilibrium == {"unlabeled_weight": 1.17}
    assert record.instability == [(50, 6.5, 15.9)]
    assert record.image_size == []
    assert record.overrides == ["data=folder", "data.images_digest=a1", "data.labels_digest=a2", "fold=1"]
    for part in (record.config["data"], record.config["data"]["source"]):
        assert (part["images_digest"], part["labels_digest"]) == ("a", "a")
        assert not {"album", "told"} & part.keys()


@pytest.mark.parametrize("written", [None, [], "text", {}, {"schema": "5"}, {"schema": 6, "falls": []}])
def test_what_is_not_an_older_record_is_left_as_it_is(written: object) -> None:
    assert upgraded(written) is written


def test_a_record_that_is_damaged_is_upgraded_as_far_as_it_goes() -> None:
    assert upgraded({"schema": 3, "config": None, "overrides": [7], "falls": 1}) == {
        "schema": 3,
        "config": None,
        "overrides": [7],
        "instability": 1,
    }
