import json
from pathlib import Path

import pytest

from benchmarks import budgets
from benchmarks.budgets import FOLDS, SPENT, Scale, Sweep, chosen, place, setting_of, table, to_choose, to_test
from smoothpl.config.compose import compose_checked
from smoothpl.results.runs import find_runs
from tests.support.made_up import made_up, store

SCALE = Scale("digits", ("benchmark=digits_40",), 300, (100,))
GOOD = ("ema_decay=0.9", "optim.schedule=to_zero", "batch_size=64")
BAD = ("ema_decay=0.99", "optim.schedule=null", "batch_size=16")


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(budgets, "SCALES", (SCALE,))
    choose = place(tmp_path, "choose", SCALE, 100)
    for method, (good, bad) in {"fixmatch": (8.0, 7.0), "smooth": (4.0, 9.0)}.items():
        for fold in range(2):
            for words, error in ((GOOD, good), (BAD, bad)):
                store(choose / method, made_up(method, fold, error, *words, "max_steps=100", "choose_on=300"))
    # The best of all, if it had all of its runs.
    store(choose / "smooth", made_up("smooth", 0, 1.0, "ema_decay=0.999", "max_steps=100", "choose_on=300"))
    return tmp_path


def test_what_is_lowest_over_both_methods_on_held_out_images_is_chosen(trained: Path) -> None:
    assert chosen(place(trained, "choose", SCALE, 100)) == ([*GOOD], 6.0)


def test_a_setting_is_what_was_varied(trained: Path) -> None:
    settings = {setting_of(run) for run in find_runs([trained / "choose"])}
    assert settings == {GOOD, BAD, ("ema_decay=0.999", "optim.schedule=null", "batch_size=16")}


def test_nothing_is_chosen_before_runs_are_finished(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no setting of which all runs are finished"):
        chosen(tmp_path)


def test_settings_are_chosen_without_the_test_set_and_tested_with_it(trained: Path) -> None:
    for sweep in to_choose(trained):
        assert "choose_on=300" in sweep.words
    tested = [*to_test(trained)]
    assert [sweep.folder.name for sweep in tested] == ["fixmatch", "smooth", "flexmatch"]
    for sweep in tested:
        assert {*GOOD} <= {*sweep.words}
        assert not any(word.startswith("choose_on") for word in sweep.words)


@pytest.mark.parametrize("scale", budgets.SCALES, ids=lambda scale: scale.name)
def test_every_budget_can_be_composed(scale: Scale) -> None:
    for steps in scale.budgets:
        config = compose_checked([*scale.of_budget(steps), f"choose_on={scale.held_out}", *GOOD])
        assert (config.max_steps, config.eval_every, config.optim.schedule) == (steps, steps, "to_zero")
        if scale.rate is not None:
            assert config.optim.learning_rate * steps == pytest.approx(scale.rate, rel=1e-4)


def test_the_table_has_errors_and_what_they_cost(trained: Path) -> None:
    for method, first in {"fixmatch": 10.0, "smooth": 9.0}.items():
        for fold in range(FOLDS):
            folder = place(trained, "test", SCALE, 100) / method
            store(folder, made_up(method, fold, first + fold % 2, *GOOD, "max_steps=100"))
        (folder / SPENT).write_text(json.dumps(120.0))
    (row,) = table(trained, SCALE).rows
    assert [cell.text for cell in row] == [
        *("100", " ".join(GOOD), "6.00"),
        *("10.50 ± 0.50", "20", "9.50 ± 0.50", "20", "0 of 6 runs", ""),
    ]


def test_a_sweep_is_trained_and_its_cpu_seconds_are_kept_once(tmp_path: Path) -> None:
    short = ("benchmark=digits_40", "method=supervised", "max_steps=2", "eval_every=2", "batch_size=4", "logger=none")
    sweep = Sweep(tmp_path / "sweep", (*short, "fold=0,1"))
    assert sweep.train().code == 0
    assert len(find_runs([sweep.folder])) == 2
    spent = json.loads((sweep.folder / SPENT).read_text())
    assert spent > 0
    assert sweep.train().code == 0  # finds them finished
    assert json.loads((sweep.folder / SPENT).read_text()) == spent
