from pathlib import Path

import pytest

from smoothpl.commands import show
from smoothpl.errors import ConfigError
from smoothpl.record.record import Record, write
from tests.results.test_card import made


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    show.main(arguments)


def put(place: Path, record: Record) -> Path:
    place.mkdir(parents=True)
    write(place, record)
    return place


def test_a_card_is_printed_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = put(tmp_path / "run", made())
    run(monkeypatch, str(place), f"out={tmp_path / 'card.html'}")
    shown = capsys.readouterr().out
    assert "Error 30.00 % of 10 test images; 95 % interval: 10.78 to 60.32 %." in shown
    assert max(map(len, shown.splitlines()[:-1])) <= 80
    page = (tmp_path / "card.html").read_text()
    assert "cat &amp; &lt;dog&gt;" in page
    assert "<dog>" not in page
    run(monkeypatch, str(place), f"out={tmp_path / 'card.md'}")
    assert "cat & \\<dog\\>" in (tmp_path / "card.md").read_text()


def test_folds_are_taken_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for fold in range(3):
        put(tmp_path / f"fold={fold}", made(fold=fold, tested_on=f"labeled images held out, part {fold} of 3"))
    run(monkeypatch, str(tmp_path))
    assert "Error 30.00 % of 30 labeled images held out" in capsys.readouterr().out.replace("\n", " ")


def test_what_holds_no_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="no run is named"):
        run(monkeypatch)
    with pytest.raises(ConfigError, match=r"there is no run\.json below it"):
        run(monkeypatch, str(tmp_path))
    with pytest.raises(ConfigError, match=r"out=card\.pdf must end with"):
        run(monkeypatch, str(tmp_path), "out=card.pdf")


def test_the_card_is_saved_also_when_nobody_reads_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object) -> None:
        raise BrokenPipeError

    place = put(tmp_path / "run", made())
    monkeypatch.setattr("smoothpl.results.output.show", closed)
    with pytest.raises(BrokenPipeError):
        run(monkeypatch, str(place), f"out={tmp_path / 'card.md'}")
    assert "Error 30.00 %" in (tmp_path / "card.md").read_text()


def test_the_card_of_a_run_on_a_backbone_names_it(
    on_features: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, str(on_features), f"out={tmp_path / 'card.html'}")
    shown = " ".join(capsys.readouterr().out.split())
    assert " backbone tiny backbone.views 2 backbone.size 8 " in shown
    assert ">tiny<" in (tmp_path / "card.html").read_text()
