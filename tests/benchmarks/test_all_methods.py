from pathlib import Path

import pytest

from benchmarks import all_methods
from benchmarks.all_methods import Sweep, sweeps
from benchmarks.sweeping import Done


def test_every_method_is_trained_as_published_and_smooth_where_that_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    some = ["fixmatch", "fully_supervised", "mean_teacher", "smooth", "supervised"]  # of which one is C1 as published
    monkeypatch.setattr(all_methods, "options", lambda group: some)
    names = [sweep.name for sweep in sweeps()]
    assert names == ["supervised", "fixmatch", "fixmatch,shape=linear", "mean_teacher", "smooth"]


def test_what_fails_is_said_and_the_others_are_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trained: list[set[str]] = []

    def pretend(_: Path, words: tuple[str, ...]) -> Done:
        trained.append({*words})
        return Done(int("method=wrong" in words), 1.0)

    monkeypatch.setattr(all_methods, "sweeps", lambda: iter([Sweep(("method=wrong",)), Sweep(("method=right", "a=1"))]))
    monkeypatch.setattr(all_methods, "train_below", pretend)
    all_methods.main(tmp_path, ["max_steps=3"])
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(f"1/2 wrong: failed, see {tmp_path / 'wrong' / 'said.txt'}")
    assert printed[1].startswith("2/2 right,a=1: done")
    assert all({"fold=range(6)", "max_steps=3"} <= words for words in trained)
