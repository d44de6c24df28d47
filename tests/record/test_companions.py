from pathlib import Path

from smoothpl.record.companions import main_run_of, runs_below
from smoothpl.record.record import read_below, write
from tests.support.made_up import made_up


def placed(*places: Path) -> None:
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
        write(place, made_up("smooth", 0, 5.0))


def test_runs_beside_a_run_are_not_counted_with_it(tmp_path: Path) -> None:
    run = tmp_path / "fold=0" / "run"
    placed(run, run / "labels_only", run / "parts" / "1", run / "parts" / "1_labels_only", tmp_path / "other")
    assert sorted(runs_below(tmp_path)) == [run, tmp_path / "other"]
    assert [*read_below([tmp_path])] == [run, tmp_path / "other"]
    assert [*read_below([run])] == [run]


def test_runs_beside_a_run_can_be_named_themselves(tmp_path: Path) -> None:
    placed(tmp_path, tmp_path / "labels_only", tmp_path / "parts" / "1", tmp_path / "head")
    for name in ("labels_only", "parts/1", "head"):
        assert main_run_of(tmp_path / name) == tmp_path
        assert [*read_below([tmp_path / name])] == [tmp_path / name]
    assert [*read_below([tmp_path / "parts"])] == [tmp_path / "parts" / "1"]


def test_a_folder_that_only_has_such_a_name_is_like_any_other(tmp_path: Path) -> None:
    placed(tmp_path / "labels_only", tmp_path / "parts" / "1", tmp_path / "run" / "within")
    assert len([*runs_below(tmp_path)]) == 3
    assert main_run_of(tmp_path / "labels_only") is None
