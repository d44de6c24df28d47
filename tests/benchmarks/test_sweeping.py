from pathlib import Path

from benchmarks.sweeping import SAID, train_below
from smoothpl.results.runs import find_runs

SHORT = ("benchmark=digits_40", "method=supervised", "max_steps=2", "eval_every=2", "batch_size=4", "logger=none")


def test_a_sweep_that_fails_says_where_it_says_why(tmp_path: Path) -> None:
    place = tmp_path / "sweep"
    done = train_below(place, (*SHORT, "fold=0", "threshold=2", "method=fixmatch"))
    assert done.code != 0
    assert done.described(place) == f"failed, see {place / SAID}"
    assert "threshold=2" in (place / SAID).read_text()


def test_what_is_finished_is_not_trained_again(tmp_path: Path) -> None:
    """More folds are."""
    place = tmp_path / "policy.sweep"
    assert train_below(place, (*SHORT, "fold=0")).described(place) == "done"
    (first,) = [run.started for run in find_runs([place])]
    assert train_below(place, (*SHORT, "fold=0,1")).seconds > 0
    assert [run.started for run in find_runs([place]) if run.fold == 0] == [first]
    assert {run.fold for run in find_runs([place])} == {0, 1}
