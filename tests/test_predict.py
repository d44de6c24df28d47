import csv
import io
import json
import sys
from pathlib import Path

import pytest

from smoothpl import predict
from smoothpl.errors import ConfigError
from smoothpl.train import train
from tests.composing import TINY, composed
from tests.data.own import save


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


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["predict", *words])
    predict.main()


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_image_of_a_folder_has_a_row(
    run_dir: Path, photos: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, f"run={run_dir}", "images=photos", "top=3", "probabilities=true")
    rows = table((photos.parent / "predictions.csv").read_text())
    names = [row["file"] for row in rows]
    assert names == ["photos/=1+1.png", "photos/a.png", 'photos/quo"te,.png', "photos/sub/b c.png", "photos/ü\n.png"]
    for row in rows:
        probabilities = {name: float(row[f"p({name})"]) for name in "0123456789"}
        assert sum(probabilities.values()) == pytest.approx(1, abs=1e-5)
        best = sorted(probabilities, key=lambda name: -probabilities[name])[:3]
        assert [row["label"], row["label_2"], row["label_3"]] == best
        assert float(row["confidence"]) == probabilities[best[0]]
    told = capsys.readouterr().err.replace("\n", " ")
    assert "1 of 6 files are no images that can be read, and are left out: 'photos/bad.png'" in told
    assert "predictions: predictions.csv" in told


def test_a_cell_is_never_a_formula(run_dir: Path, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(photos)
    run(monkeypatch, f"run={run_dir}", "images==1+1.png", "out=out.csv")
    assert (photos / "out.csv").read_text().splitlines()[1].startswith("'=1+1.png,")


@pytest.mark.parametrize(("word", "separator"), [("-", "\n"), ("-0", "\0")])
def test_names_may_come_from_elsewhere_and_lines_of_json_go_out(
    word: str, separator: str, run_dir: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["photos/sub/b c.png", "photos/a.png", "photos/gone.png"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(separator.join([*names, ""]).encode())))
    run(monkeypatch, f"run={run_dir}", f"images={word}", "out=out.jsonl", "top=2", "probabilities=true")
    lines = [json.loads(line) for line in (photos.parent / "out.jsonl").read_text().splitlines()]
    assert [line["file"] for line in lines] == names[:2]
    assert lines[0]["top"][0] == {"label": lines[0]["label"], "confidence": lines[0]["confidence"]}
    assert lines[0]["probabilities"][lines[0]["label"]] == lines[0]["confidence"]


@pytest.mark.usefixtures("photos")
def test_stdout_is_a_place_too(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, f"run={run_dir}", "images=photos/a.png", "images=photos/sub", "out=-")
    assert [row["file"] for row in table(capsys.readouterr().out)] == ["photos/a.png", "photos/sub/b c.png"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["images=photos"], "run=<directory> and images=<place> are needed"),
        (["run={run}", "images=gone"], "images=gone is not there"),
        (["run={run}", "images=photos/.."], None),
        (["run={run}", "images=photos", "out=x.txt"], "out=x.txt must end with .csv or .jsonl"),
        (["run={run}", "images=photos", "top=0"], "top=0 must be a positive whole number"),
        (["run={run}", "images=photos", "top=11"], "top=11, but there are 10 classes"),
        (["run={run}", "images=photos", "probabilities=yes"], "probabilities=yes must be true or false"),
        (["run={run}", "images=photos/bad.png"], "none of them is an image"),
        (["run={run}", "images=photos", "batch=3"], "batch=3 is not a word of this command"),
        (["run=photos", "images=photos"], "run=photos holds no run"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], message: str | None, run_dir: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [word.format(run=run_dir) for word in words]
    if message is None:
        run(monkeypatch, *said)
        return
    with pytest.raises(ConfigError, match=message):
        run(monkeypatch, *said)
    assert not list(photos.parent.glob(".*draft"))


def test_an_earlier_file_is_kept_when_nothing_could_be_predicted(
    run_dir: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, f"run={run_dir}", "images=photos/a.png")
    before = (photos.parent / "predictions.csv").read_text()
    monkeypatch.setattr(predict, "put_rows", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(monkeypatch, f"run={run_dir}", "images=photos/sub")
    assert (photos.parent / "predictions.csv").read_text() == before


def test_help_shows_how_it_is_called(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(monkeypatch, "--help")
    shown = capsys.readouterr().out
    assert "python -m smoothpl.predict run=DIR images=PLACE" in shown
    assert max(map(len, shown.splitlines())) <= 80
