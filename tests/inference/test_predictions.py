import csv
import io
import json
import sys
from pathlib import Path

import pytest

from smoothpl.errors import ConfigError
from smoothpl.inference import predictions
from smoothpl.inference.classifier import Classifier, load
from smoothpl.inference.predictions import Format, find_files, write
from smoothpl.run.training import train
from tests.support.composing import TINY, composed
from tests.support.own import save


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Classifier:
    place = tmp_path_factory.mktemp("trained") / "run"
    train(composed(*TINY), place)
    return load(place)


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("a.png", "sub/b c.png", "=1+1.png")):
        save(tmp_path / "photos" / name, number)
    return tmp_path / "photos"


def test_a_cell_is_never_a_formula(classifier: Classifier, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(photos)
    write(Format("out.csv", 1, False), classifier, [Path("=1+1.png")])
    assert (photos / "out.csv").read_text().splitlines()[1].startswith("'=1+1.png,")


@pytest.mark.usefixtures("photos")
@pytest.mark.parametrize(("place", "separator"), [("-", "\n"), ("-0", "\0")])
def test_names_may_come_from_stdin(place: str, separator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["photos/sub/b c.png", "photos/a.png", "photos/gone.png"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(separator.join([*names, ""]).encode())))
    assert find_files([place]) == list(map(Path, names))


@pytest.mark.usefixtures("photos")
def test_a_place_without_images_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="images=empty names no image"):
        find_files(["empty"])


def test_predictions_are_lines_of_json_and_other_files_are_returned(classifier: Classifier, photos: Path) -> None:
    names = ["photos/sub/b c.png", "photos/a.png", "photos/gone.png"]
    bad = write(Format("out.jsonl", 2, True), classifier, list(map(Path, names)))
    assert bad == ["photos/gone.png"]
    lines = [json.loads(line) for line in (photos.parent / "out.jsonl").read_text().splitlines()]
    assert [line["file"] for line in lines] == names[:2]
    assert lines[0]["top"][0] == {"label": lines[0]["label"], "confidence": lines[0]["confidence"]}
    assert lines[0]["probabilities"][lines[0]["label"]] == lines[0]["confidence"]


@pytest.mark.usefixtures("photos")
def test_predictions_may_go_to_stdout(classifier: Classifier, capsys: pytest.CaptureFixture[str]) -> None:
    write(Format("-", 1, False), classifier, [Path("photos/a.png")])
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out, newline=""))
    assert row["file"] == "photos/a.png"


@pytest.mark.parametrize("is_terminal", [False, True])
def test_names_on_a_terminal_are_escaped_and_in_a_pipe_they_are_as_they_are(
    is_terminal: bool,
    classifier: Classifier,
    photos: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hostile = (photos / "a.png").rename(photos / "\x1b[2J.png")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    write(Format("-", 1, False), classifier, [hostile])
    assert ("\x1b" in capsys.readouterr().out) != is_terminal


def test_what_a_folder_holds_besides_images_is_named(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (photos / "x.nef").write_text("x")
    assert len(find_files([str(photos)])) == 3
    assert "skipped 1 .nef (camera raw). Convert camera raw" in capsys.readouterr().err


def test_an_earlier_file_is_kept_when_nothing_could_be_predicted(
    classifier: Classifier, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(Format("out.csv", 1, False), classifier, [Path("photos/a.png")])
    before = (photos.parent / "out.csv").read_text()
    monkeypatch.setattr(predictions, "put_rows", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(Format("out.csv", 1, False), classifier, [Path("photos/sub/b c.png")])
    assert (photos.parent / "out.csv").read_text() == before
    assert not list(photos.parent.glob(".*draft"))
