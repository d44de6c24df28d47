from pathlib import Path

import pytest

from smoothpl.backbones.run_files import check_files, files_of, way_back
from smoothpl.errors import ConfigError


def test_files_are_told_from_published_weights() -> None:
    assert [*files_of({"_target_": "x", "name": "resnet18", "weights": "pretrained"})] == []
    assert [*files_of({"weights": "mine.pth"})] == [("weights", "mine.pth")]
    assert [*files_of({"path": "a.npy", "files": "b.txt"})] == [("path", "a.npy"), ("files", "b.txt")]
    assert [*files_of({"path": None, "files": None})] == []


def test_a_file_that_a_run_needs_is_to_be_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "encoder.onnx"
    message = rf"^run=a was trained with backbone\.path={place}, which is not there any more; put the file back"
    with pytest.raises(ConfigError, match=message):
        check_files({"onnx": {"path": str(place)}}, "run=a")
    place.touch()
    check_files({"onnx": {"path": str(place)}}, "run=a")
    monkeypatch.chdir(tmp_path)
    check_files({"onnx": {"path": "encoder.onnx"}}, "run=a")
    with pytest.raises(ConfigError, match=rf"not there any more \(seen from {tmp_path}\); put the file back"):
        check_files({"onnx": {"path": "other.onnx"}}, "run=a")


def test_the_way_back_is_a_file_where_there_is_one() -> None:
    encoders = {"lite": {"variant": "lite0"}, "onnx": {"path": "a.onnx"}, "own": {"path": "a.npy", "files": "b"}}
    assert way_back(encoders, ["lite"]) == "install the version that it was trained with"
    assert way_back(encoders, ["onnx"]) == "put the file back that it was trained with (a.onnx)"
    assert way_back(encoders, ["own"]) == "put the files back that it was trained with (a.npy, b)"
