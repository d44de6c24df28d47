import csv
import io
import sys
from pathlib import Path

import pytest

from smoothpl.commands import predict
from smoothpl.errors import ConfigError
from smoothpl.inference.classifier import load
from smoothpl.inference.engines import BOUND
from smoothpl.run.training import train
from tests.support.composing import TINY, composed
from tests.support.own import save


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("trained") / "run"
    train(composed(*TINY), place)
    return place


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("a.png", "sub/b c.png", "=1+1.png", 'quo"te,.png', "ü\n.png")):
        save(tmp_path / "photos" / name, number)
    (tmp_path / "photos" / "bad.png").write_text("x")
    return tmp_path / "photos"


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_image_of_a_folder_has_a_row(run_dir: Path, photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    predict.main([f"run={run_dir}", "images=photos", "top=3", "probabilities=true"])
    rows = table((photos.parent / "predictions.csv").read_text())
    names = [row["file"] for row in rows]
    assert names == ["photos/=1+1.png", "photos/a.png", 'photos/quo"te,.png', "photos/sub/b c.png", "photos/ü\n.png"]
    for row in rows:
        probabilities = {name: float(row[f"p({name})"]) for name in "0123456789"}
        assert sum(probabilities.values()) == pytest.approx(1, abs=1e-5)
        best = sorted(probabilities, key=lambda name: -probabilities[name])[:3]
        assert [row["label"], row["label_2"], row["label_3"]] == best
        assert float(row["confidence"]) == probabilities[best[0]]
    messages = capsys.readouterr().err.replace("\n", " ")
    assert "1 of 6 files are not readable images and are skipped: 'photos/bad.png'" in messages
    assert "predictions: predictions.csv (engine=torch)" in messages


@pytest.mark.usefixtures("photos")
def test_several_places_and_stdout(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    predict.main([f"run={run_dir}", "images=photos/a.png", "images=photos/sub", "out=-"])
    assert [row["file"] for row in table(capsys.readouterr().out)] == ["photos/a.png", "photos/sub/b c.png"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"photos/a.png\n")))
    predict.main([f"run={run_dir}", "images=-", "out=-"])
    assert [row["file"] for row in table(capsys.readouterr().out)] == ["photos/a.png"]


@pytest.mark.usefixtures("photos")
def test_a_folder_may_hold_more_than_images(run_dir: Path) -> None:
    predict.main([f"run={run_dir}", "images=photos/.."])


def test_a_run_on_a_backbone_predicts_from_the_files_alone(
    on_features: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a run that nothing but its directory is left of."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(photos.parent / "another cache"))
    predict.main([f"run={on_features}", "images=photos", "trust=true"])
    rows = table((photos.parent / "predictions.csv").read_text())
    classifier = load(on_features, trust=True)
    for row in rows:
        found = classifier.predict(photos.parent / row["file"])
        assert (row["label"], float(row["confidence"])) == (found.labels[0], round(float(found.confidence), 6))
    assert len(rows) == 5


def test_both_engines_write_the_same_predictions_and_which_it_was_is_said(
    run_dir: Path, photos: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(photos.parent / "cache"))
    found = []
    for engine in ("torch", "onnxruntime"):
        predict.main([f"run={run_dir}", "images=photos", "probabilities=true", f"engine={engine}"])
        assert f"predictions.csv (engine={engine})" in capsys.readouterr().err.replace("\n", " ")
        found.append(table((photos.parent / "predictions.csv").read_text()))
    for one, other in zip(*found, strict=True):
        assert [one["file"], one["label"]] == [other["file"], other["label"]]
        for name in "0123456789":
            assert float(one[f"p({name})"]) == pytest.approx(float(other[f"p({name})"]), abs=BOUND)


@pytest.mark.parametrize("engine", ["torch", "onnxruntime"])
def test_the_engine_of_a_backbone_can_be_chosen(
    engine: str, on_features: Path, photos: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(photos.parent / "cache"))
    predict.main([f"run={on_features}", "images=photos", "trust=true", f"engine={engine}"])
    assert f"predictions.csv (engine={engine})" in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["images=photos"], r"run=\.\.\. must be given"),
        (["run={run}"], r"images=\.\.\. must be given"),
        (["run={run}", "images=gone"], "images=gone does not exist"),
        (["run={run}", "images=photos", "out=x.txt"], "out=x.txt must end with .csv or .jsonl"),
        (["run={run}", "images=photos", "top=0"], "top=0 must be a positive whole number"),
        (["run={run}", "images=photos", "top=11"], "top=11, but there are 10 classes"),
        (["run={run}", "images=photos", "probabilities=yes"], "probabilities=yes must be true or false"),
        (["run={run}", "images=photos", "engine=onnx"], "engine=onnx must be one of auto, onnxruntime, torch"),
        (["run={run}", "images=photos/bad.png"], "none of the files is an image"),
        (["run={run}", "images=photos", "batch=3"], "batch=3 is not an option of this command"),
        (["run=photos", "images=photos"], "run=photos is not a run"),
    ],
)
def test_a_mistake_is_one_message(arguments: list[str], message: str, run_dir: Path, photos: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        predict.main([each.format(run=run_dir) for each in arguments])
    assert not list(photos.parent.glob(".*draft"))
