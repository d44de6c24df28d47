from pathlib import Path

import pytest

from smoothpl.report import main
from smoothpl.results.record import Evaluation, Record, write


def store(
    folder: Path, recipe: str, fold: int, error: float, status: str = "finished", seed: int = 0, name: str = ""
) -> None:
    record = Record({"benchmark": "digits_40", "fold": fold, "seed": seed}, recipe, name or recipe, status=status)
    record.take_history([Evaluation(1, error, [])])
    folder.mkdir(parents=True)
    write(folder, record)


def test_recipes_stand_against_folds_with_mean_and_population_deviation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The paper's own FixMatch column: 9.28 +- 2.95."""
    for fold, error in enumerate([9.77, 7.43, 7.48, 7.36, 15.60, 8.01]):
        store(tmp_path / f"a{fold}", "fix", fold, error)
    store(tmp_path / "b", "smooth", 1, 7.07)
    main([str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    (fix,) = [line for line in lines if "fix" in line]
    (smooth,) = [line for line in lines if "smooth" in line]
    assert "9.28 ± 2.95" in fix
    assert "15.60" in fix
    assert smooth.count("-") == 5
    assert "7.07 ± 0.00" in smooth


def test_runs_that_did_not_finish_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(tmp_path / "a", "fix", 0, 5)
    store(tmp_path / "b", "fix", 1, 5, status="failed")
    main([str(tmp_path)])
    assert "left out: fix fold=1 seed=0 is failed" in capsys.readouterr().out


def test_runs_are_grouped_by_what_was_composed_and_not_by_how_it_was_spelled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(tmp_path / "a", "abc", 0, 5, name="smooth,threshold=0.95,abc")
    store(tmp_path / "b", "abc", 1, 6, name="smooth,abc")
    main([str(tmp_path)])
    shown = capsys.readouterr().out
    assert "5.50 ± 0.50" in shown
    assert "threshold" not in shown


def test_several_seeds_have_columns_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(tmp_path / "a", "fix", 0, 5, seed=1917)
    store(tmp_path / "b", "fix", 0, 6, seed=2001)
    main([str(tmp_path)])
    assert "seed 1917" in " ".join(capsys.readouterr().out.split())


def test_a_run_that_was_made_twice_is_not_averaged_silently(tmp_path: Path) -> None:
    store(tmp_path / "a", "fix", 0, 5)
    store(tmp_path / "b", "fix", 0, 6)
    with pytest.raises(SystemExit, match="run twice with fold=0 seed=0"):
        main([str(tmp_path)])


def test_a_folder_without_runs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"no run\.json below"):
        main([str(tmp_path)])
