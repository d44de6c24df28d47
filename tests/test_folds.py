import os
import statistics
import sys
from pathlib import Path

import pytest

from smoothpl import folds
from smoothpl.cli.front_door import run_command
from smoothpl.data import digits, random
from tests.data.real import needs_cifar10, real_cifar10


def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    monkeypatch.setattr(sys, "argv", ["folds", *arguments])
    os.environ.pop("HYDRA_FULL_ERROR", None)
    run_command(folds.main)
    os.environ.pop("HYDRA_FULL_ERROR", None)
    return capsys.readouterr().out


def row(text: str, name: str) -> list[str]:
    return next(line.split()[1:] for line in text.splitlines() if line.split()[:1] == [name])


def test_a_balanced_fold_has_four_labels_of_everything(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(monkeypatch, capsys, "fold=3")
    assert all(row(text, str(c))[0] == "4" for c in range(10))
    assert row(text, "all") == ["40", "1297"]
    assert "deviation" not in text


def test_random_folds_come_with_the_papers_figure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "new" / "folds.png"
    text = shown(monkeypatch, capsys, "split=random", "num_labels=50", f"out={out}")
    labels = digits().train.labels
    of_folds = []
    for fold in range(6):
        chosen = labels[random(labels, 70, fold, True).labeled].tolist()
        of_folds.append(statistics.pstdev([chosen.count(c) / 70 for c in range(10)]) / 0.1)
    assert row(text, "70") == [*(f"{value:.2f}" for value in of_folds), f"{statistics.mean(of_folds):.2f}"]
    assert out.read_bytes().startswith(b"\x89PNG")
    assert str(out) in text


@pytest.mark.parametrize("option", ["imbalanced", "balanced"])
def test_a_picture_of_any_split(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    shown(monkeypatch, capsys, f"split={option}", f"out={tmp_path / 'folds.png'}")
    assert (tmp_path / "folds.png").stat().st_size > 5000


@needs_cifar10
def test_a_fold_of_cifar10_is_told_by_the_names_of_its_classes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(monkeypatch, capsys, "data=cifar10", "split=imbalanced")
    assert sorted(int(row(text, name)[1]) for name in real_cifar10().class_names) == [3000] + [5000] * 9
    assert row(text, "all") == ["40", "48000"]


def test_help_and_mistakes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        shown(monkeypatch, capsys, "--help")
    assert left.value.code == 0
    assert "out=FILE.png" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="did you mean split"):
        shown(monkeypatch, capsys, "splt=random")
