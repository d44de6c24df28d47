import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from smoothpl.commands import export
from smoothpl.errors import ConfigError
from smoothpl.run.training import train
from tests.inference.test_formats import metadata_in
from tests.support.composing import TINY, composed
from tests.support.own import save


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("trained") / "run"
    train(composed(*TINY), place)
    for number in range(20):
        save(place.parent / "photos" / f"{number}.png", number)
    (place.parent / "photos" / "bad.png").write_text("x")
    return place


@pytest.fixture(autouse=True)
def beside_the_run(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run_dir.parent)


def test_a_file_says_what_the_run_says_and_how_to_use_it(run_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run_dir.parent / "out").mkdir()
    export.main(["run=run/run.json", "images=photos", "format=safetensors", "out=out/model.safetensors"])
    printed = capsys.readouterr().out
    assert "checked on 20 images: probabilities agree with the run to " in printed
    assert "model: out/model.safetensors" in printed
    path = run_dir.parent / "out" / "model.safetensors"
    metadata = metadata_in("safetensors", path)
    assert json.loads(metadata["class_names"]) == [str(digit) for digit in range(10)]
    assert metadata["input"] == "uint8 (batch, 3, height, width), RGB"
    assert "to 8 x 8 pixels, made grey" in metadata["preparation"]
    assert json.loads(metadata["mean"]) == pytest.approx([0.305])
    assert [each.name for each in path.parent.glob(".*")] == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_one_image_is_enough_to_check_with(run_dir: Path) -> None:
    export.main(["run=run", "format=torch_export", "images=photos/3.png", "out=one.pt2"])
    loaded = torch.export.load(run_dir.parent / "one.pt2").module()
    assert loaded(torch.zeros(5, 3, 30, 20, dtype=torch.uint8)).shape == (5, 10)


def test_a_backbone_and_its_head_are_one_file_of_weights(run_dir: Path, on_features: Path) -> None:
    export.main([f"run={on_features}", "images=photos", "format=safetensors", "out=whole.safetensors", "trust=true"])
    state = load_file(run_dir.parent / "whole.safetensors")
    assert {name.partition(".")[0] for name in state} == {"head"}  # a backbone that has no weights
    assert state["head.classify.weight"].shape == (10, 96)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["format=tflite"], "format=tflite must be one of onnx, torchscript, torch_export, safetensors"),
        (["out=model.pt"], "out=model.pt must end with .onnx"),
        (["images=photos/bad.png"], "holds no image that can be read"),
        (["images=gone"], "images=gone does not exist"),
        (["size=3"], "size=3 is not an option of this command"),
    ],
)
def test_a_mistake_is_one_message(arguments: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        export.main(["run=run", "images=photos", *arguments])


def test_run_and_images_are_needed() -> None:
    with pytest.raises(ConfigError, match=r"run=\.\.\. and images=\.\.\. must be given"):
        export.main([])


def test_a_folder_that_is_not_there_is_not_made(run_dir: Path) -> None:
    with pytest.raises(ConfigError, match=r"out=nowhere/m\.pt: there is no folder nowhere; make it, or name another"):
        export.main(["run=run", "images=photos", "format=torchscript", "out=nowhere/m.pt"])
    assert not (run_dir.parent / "nowhere").exists()
