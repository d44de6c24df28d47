import json
from pathlib import Path
from typing import Any

import pytest

from smoothpl.errors import ConfigError
from smoothpl.record.consistency import contradiction
from smoothpl.record.record import Record, read, write

NAMES = ["cat", "dog", "owl"]
GOOD: dict[str, Any] = {
    "config": {"data": {"num_classes": 3}, "net": {"num_classes": 3}, "num_labels": 6},
    "class_names": NAMES,
    "confusion": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "labeled_per_class": [2, 2, 2],
    "labeled_as": [0, 1, 2, 0, 1, 2],
    "collapsed": [2],
    "image_size": [32, 32],
}
WRONG = {
    "shortened class names": ({"class_names": NAMES[:2]}, "it has 2 class names, and data.num_classes=3"),
    "another network": ({"config": {"net": {"num_classes": 10**9}}}, "it has 3 class names, and net.num_classes=10000"),
    "an oversized confusion": ({"confusion": [[0] * 4] * 4}, "its confusion matrix does not fit its 3 classes"),
    "a ragged confusion": ({"confusion": [[1], [1, 2], [0] * 9]}, "its confusion matrix does not fit its 3 classes"),
    "a number for a name": ({"class_names": ["cat", 5, "owl"]}, "a class name is not a text"),
    "more counts than classes": ({"labeled_per_class": [1] * 9}, "labeled_per_class does not fit its 3 classes"),
    "a class too many": ({"collapsed": [3]}, "it mentions a class beyond its 3"),
    "a label too many": ({"labeled_as": [0, -1, 2]}, "it mentions a class beyond its 3"),
    "an absurd image": ({"image_size": [10**9, 10**9]}, "image_size is [1000000000, 1000000000]"),
    "no network": ({"config": {"net": "x"}}, "its net is 'x'"),
    "no views": ({"config": {"views": None}}, "its views is 'None'"),
    "no image": ({"image_size": [0, 0]}, "image_size is [0, 0]"),
    "half an image": ({"image_size": [32]}, "image_size is [32]"),
    "a history without steps": ({"history": [{"error": 1.0, "collapsed": []}]}, "KeyError('step')"),
}


def written(folder: Path, **changed: Any) -> Path:
    write(folder, Record(config={}, recipe="recipe", status="finished"))
    path = folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | GOOD | changed))
    return folder


def test_a_record_that_fits_together_is_read(tmp_path: Path) -> None:
    assert contradiction(read(written(tmp_path))) is None


@pytest.mark.parametrize(("changed", "reason"), WRONG.values(), ids=WRONG)
def test_a_record_of_a_stranger_is_refused_in_one_line_if_it_does_not_fit(
    tmp_path: Path, changed: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        read(written(tmp_path, **changed))
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize(
    "content",
    [b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"schema": 6, "config": ' + b"9" * 5000 + b"}", b"null", b""],
    ids=["half", "binary", "deep", "a long number", "null", "empty"],
)
def test_what_is_not_even_json_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(ConfigError, match=r"run\.json is (damaged|not a record)"):
        read(tmp_path)


def test_a_record_that_says_little_is_read() -> None:
    assert contradiction(Record({}, "recipe", confusion=[[1, 0], [0, 1]])) is None
