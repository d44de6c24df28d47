import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from smoothpl import export, formats
from smoothpl.classifier import load
from smoothpl.errors import ConfigError
from smoothpl.export import SUFFIXES
from smoothpl.formats import FORMATS, Format
from smoothpl.train import train
from tests.composing import TINY, composed
from tests.data.own import save


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


def told_by(name: str, path: Path) -> dict[str, str]:
    if name == "onnx":
        import onnx

        return {each.key: each.value for each in onnx.load(path).metadata_props}
    if name == "safetensors":
        from safetensors import safe_open

        with safe_open(path, "pt") as file:
            return dict(file.metadata())
    extra: dict[str, Any] = {"metadata.json": ""}
    if name == "torchscript":
        torch.jit.load(path, _extra_files=extra)
    else:
        torch.export.load(path, extra_files=extra)
    found: dict[str, str] = json.loads(extra["metadata.json"])
    return found


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_says_what_the_run_says_for_any_number_of_images(
    name: str, run_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, run_dir, f"format={name}", f"out=out/{name}{SUFFIXES[name]}")
    assert "the same on 20 images, to " in capsys.readouterr().out
    path = run_dir.parent / "out" / f"{name}{SUFFIXES[name]}"
    classifier = load(run_dir)
    pixels = torch.randint(256, (3, 1, 8, 8), dtype=torch.uint8)
    with torch.no_grad():
        found = FORMATS[name].read(path, classifier)(pixels)
    torch.testing.assert_close(found, classifier.of_pixels(list(pixels)).probabilities, atol=1e-5, rtol=0)
    told = told_by(name, path)
    assert json.loads(told["class_names"]) == [str(digit) for digit in range(10)]
    assert told["input"] == "uint8 (batch, 1, 8, 8), grey"
    assert json.loads(told["mean"]) == pytest.approx([0.305])
    assert [each.name for each in path.parent.glob(".*")] == []


def test_what_differs_from_the_run_is_not_written(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Format(FORMATS["safetensors"].write, lambda _, classifier: lambda pixels: classifier(pixels) + 0.01)
    monkeypatch.setitem(formats.FORMATS, "safetensors", wrong)
    with pytest.raises(ConfigError, match=r"would differ from the run by 0\.01 .* and was not written"):
        run(monkeypatch, run_dir, "format=safetensors", "out=wrong.safetensors")
    assert not list(run_dir.parent.glob("*wrong*"))
    assert not list(run_dir.parent.glob(".draft*"))


def test_a_package_that_is_missing_is_named(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    with pytest.raises(ConfigError, match=r"this format needs safetensors: pip install 'smoothpl\[export\]'"):
        run(monkeypatch, run_dir, "format=safetensors")


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
