import os
import statistics
from pathlib import Path

import pytest

from smoothpl.cli.front_door import run_command
from smoothpl.commands import folds
from smoothpl.data import digits, random
from tests.support.own import two_digits
from tests.support.real import needs_cifar10, real_cifar10


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    os.environ.pop("HYDRA_FULL_ERROR", None)
    run_command(lambda: folds.main(arguments))
    os.environ.pop("HYDRA_FULL_ERROR", None)
    return capsys.readouterr().out


def row(text: str, name: str) -> list[str]:
    return next(line.split()[1:] for line in text.splitlines() if line.split()[:1] == [name])


def test_a_balanced_fold_has_four_labels_of_everything(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "fold=3")
    assert all(row(text, str(c))[0] == "4" for c in range(10))
    assert row(text, "all") == ["40", "1297"]
    assert "deviation" not in text


def test_random_folds_come_with_the_papers_figure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "new" / "folds.png"
    text = shown(capsys, "split=random", "num_labels=50", f"out={out}")
    labels = digits().train.labels
    of_folds = []
    for fold in range(6):
        chosen = labels[random(labels, 70, fold, True).labeled].tolist()
        of_folds.append(statistics.pstdev([chosen.count(c) / 70 for c in range(10)]) / 0.1)
    assert row(text, "70") == [*(f"{value:.2f}" for value in of_folds), f"{statistics.mean(of_folds):.2f}"]
    assert out.read_bytes().startswith(b"\x89PNG")
    assert str(out) in text


@pytest.mark.parametrize("option", ["imbalanced", "balanced"])
def test_a_picture_of_any_split(capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str) -> None:
    shown(capsys, f"split={option}", f"out={tmp_path / 'folds.png'}")
    assert (tmp_path / "folds.png").stat().st_size > 5000


@needs_cifar10
def test_a_fold_of_cifar10_is_listed_by_the_names_of_its_classes(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "data=cifar10", "split=imbalanced")
    assert sorted(int(row(text, name)[1]) for name in real_cifar10().class_names) == [3000] + [5000] * 9
    assert row(text, "all") == ["40", "48000"]


def test_images_of_unknown_class_are_counted_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = two_digits(tmp_path / "photos", labels=4, unlabeled=12, test=2)
    text = shown(capsys, "data=folder", f"data.root={root}")
    assert row(text, "zero")[0] == row(text, "one")[0] == "4"
    assert row(text, "(unknown)") == ["24"]
    assert row(text, "all") == ["8", "32"]


def test_strangers_are_counted_by_themselves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["unlabeled=open_set", "unlabeled.known=[3,5]", "unlabeled.strangers=0.2"]
    text = shown(capsys, *words, "num_labels=8", f"out={tmp_path / 'folds.png'}")
    assert row(text, "3")[0] == row(text, "5")[0] == "4"
    assert row(text, "(strangers)") == [str(round((int(row(text, "3")[1]) + int(row(text, "5")[1])) / 4))]
    assert not any(line.split()[:1] == ["7"] for line in text.splitlines())


def test_help_and_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        shown(capsys, "--help")
    assert left.value.code == 0
    assert "out=FILE.png" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="did you mean split"):
        shown(capsys, "splt=random")
