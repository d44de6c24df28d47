import json
import sys
from pathlib import Path

import pytest
import torch

from smoothpl import export, formats
from smoothpl.errors import ConfigError
from smoothpl.formats import FORMATS, Format
from smoothpl.train import train
from tests.composing import TINY, composed
from tests.data.own import save
from tests.test_formats import told_by


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("trained") / "run"
    train(composed(*TINY), place)
    for number in range(20):
        save(place.parent / "photos" / f"{number}.png", number)
    (place.parent / "photos" / "bad.png").write_text("x")
    return place


def run(monkeypatch: pytest.MonkeyPatch, run_dir: Path, *words: str) -> None:
    monkeypatch.chdir(run_dir.parent)
    monkeypatch.setattr(sys, "argv", ["export", f"run={run_dir}", "images=photos", *words])
    export.main()


def test_a_file_says_what_the_run_says_and_how_to_ask_it(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, run_dir, "format=safetensors", "out=out/model.safetensors")
    assert "the same on 20 images, to " in capsys.readouterr().out
    path = run_dir.parent / "out" / "model.safetensors"
    told = told_by("safetensors", path)
    assert json.loads(told["class_names"]) == [str(digit) for digit in range(10)]
    assert told["input"] == "uint8 (batch, 3, height, width), RGB"
    assert "to 8 x 8 pixels, made grey" in told["preparation"]
    assert json.loads(told["mean"]) == pytest.approx([0.305])
    assert [each.name for each in path.parent.glob(".*")] == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_one_image_is_enough_to_check_with(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(monkeypatch, run_dir, "format=torch_export", "images=photos/3.png", "out=one.pt2")
    loaded = torch.export.load(run_dir.parent / "one.pt2").module()
    assert loaded(torch.zeros(5, 3, 30, 20, dtype=torch.uint8)).shape == (5, 10)


def test_what_differs_from_the_run_is_not_written(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Format(FORMATS["safetensors"].write, lambda _, classifier: lambda pixels: classifier(pixels) + 0.01)
    monkeypatch.setitem(formats.FORMATS, "safetensors", wrong)
    with pytest.raises(ConfigError, match=r"would differ from the run by 0\.01 .* and was not written"):
        run(monkeypatch, run_dir, "format=safetensors", "out=wrong.safetensors")
    assert not list(run_dir.parent.glob("*wrong*"))
    assert not list(run_dir.parent.glob(".draft*"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["format=tflite"], "format=tflite must be one of onnx, torchscript, torch_export, safetensors"),
        (["out=model.pt"], "out=model.pt must end with .onnx"),
        (["images=photos/bad.png"], "holds no image that can be read"),
        (["images=gone"], "images=gone is not there"),
        (["size=3"], "size=3 is not a word of this command"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], message: str, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=message):
        run(monkeypatch, run_dir, *words)
    monkeypatch.setattr(sys, "argv", ["export"])
    with pytest.raises(ConfigError, match="run=<directory> and images=<place> are needed"):
        export.main()
