import os
from pathlib import Path

import pytest
from matplotlib.image import imread

from smoothpl.cli.front_door import run_command
from smoothpl.commands import sheet


def drawn(out: Path, *arguments: str) -> object:
    os.environ.pop("HYDRA_FULL_ERROR", None)
    run_command(lambda: sheet.main([*arguments, f"out={out}"]))
    os.environ.pop("HYDRA_FULL_ERROR", None)
    return imread(out).tolist() if out.exists() else None


def test_the_same_knobs_draw_the_same_sheet_and_another_step_another_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = drawn(tmp_path / "new" / "a.png")
    assert str(tmp_path / "new" / "a.png") in capsys.readouterr().out
    assert drawn(tmp_path / "b.png") == first
    assert drawn(tmp_path / "c.png", "step=7") != first
    assert drawn(tmp_path / "d.png", "seed=7") != first
    assert drawn(tmp_path / "e.png", "views.strong.rotation=80") != first


def test_few_images_make_a_narrow_sheet(tmp_path: Path) -> None:
    drawn(tmp_path / "few.png", "batch_size=1", "unlabeled_ratio=3")
    assert imread(tmp_path / "few.png").shape[1] == 300


def test_without_a_strong_view_there_are_two_rows(tmp_path: Path) -> None:
    drawn(tmp_path / "two.png", "method=pseudo_label")
    drawn(tmp_path / "three.png", "method=fixmatch")
    heights = [imread(tmp_path / name).shape[0] for name in ("two.png", "three.png")]
    assert heights[0] * 3 == pytest.approx(heights[1] * 2, abs=6)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["step=1000"], "step=1000 must be a step of the run, from 0 to 999"),
        (["step=-1"], "step=-1 must be a step"),
        (["method=supervised"], "method=supervised has no unlabeled images to show"),
    ],
)
def test_a_mistake_is_one_message(tmp_path: Path, words: list[str], complaint: str) -> None:
    with pytest.raises(SystemExit, match=complaint):
        drawn(tmp_path / "no.png", *words)
    assert not (tmp_path / "no.png").exists()
