import json
from pathlib import Path
from typing import Any

import pytest

from smoothpl.errors import ConfigError
from smoothpl.layout import REFUSED_JOBS, SWEEP_RUNS
from smoothpl.results.runs import Protocol, find_runs
from tests.support.made_up import made_up, store


def test_a_run_is_what_its_record_says(tmp_path: Path) -> None:
    place = store(tmp_path, made_up("smooth", 3, 5.0, "split=imbalanced", "threshold=0.9", collapsed=[2]))
    (run,) = find_runs([tmp_path, place])
    assert (run.benchmark, run.method, run.split, run.num_labels) == ("digits_40", "smooth", "imbalanced", 40)
    assert (run.fold, run.seed, run.error, run.collapsed, run.origin) == (3, 2046, 5.0, (2,), str(place))
    assert run.knobs["threshold"] == 0.9
    assert not {"fold", "seed", "split.fold", "method", "logger"} & set(run.knobs)
    assert list(run.steps) == [500, 1000]


@pytest.mark.parametrize(("protocol", "error"), [("last", 5.0), ("best", 4.0), ("median20", 4.5)])
def test_the_protocol_decides_which_error_counts(tmp_path: Path, protocol: Protocol, error: float) -> None:
    store(tmp_path, made_up("smooth", 0, 5.0, error_best=4.0, error_median20=4.5))
    assert find_runs([tmp_path], protocol)[0].error == error


def test_a_folder_without_runs_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no run.json below"):
        find_runs([tmp_path])
    with pytest.raises(ConfigError, match=r"nowhere is not a folder"):
        find_runs([tmp_path / "nowhere"])


def test_a_record_that_does_not_say_what_was_run_is_left_out(tmp_path: Path) -> None:
    record = made_up("smooth", 0, 5.0)
    del record.config["method"]
    store(tmp_path, record)
    (run,) = find_runs([tmp_path])
    assert run.status == "unreadable"
    assert "its config has no method; move it away to skip this run" in str(run.failure)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda written: written["config"].update(fold="one"), "fold and seed must be whole numbers"),
        (lambda written: written["config"].update(split=None), "is damaged"),
        (lambda written: written["config"]["split"].pop("_target_"), "is damaged"),
        (lambda written: written["history"][0].pop("collapsed"), "is damaged"),
        (lambda written: written["history"][0].update(error="low"), "is damaged"),
        (lambda written: written.update(turns=[{"step": 1}]), "is damaged"),
        (lambda written: written.update(class_names=[]), "its confusion matrix does not fit its 0 classes"),
        (lambda written: written["confusion"][3].pop(), "its confusion matrix does not fit its 10 classes"),
    ],
)
def test_a_damaged_record_does_not_take_the_others_with_it(tmp_path: Path, change: Any, complaint: str) -> None:
    store(tmp_path, made_up("fixmatch", 0, 5.0))
    place = store(tmp_path, made_up("smooth", 0, 5.0))
    written = json.loads((place / "run.json").read_text())
    change(written)
    (place / "run.json").write_text(json.dumps(written))
    good, bad = find_runs([tmp_path])
    assert (good.status, bad.status) == ("finished", "unreadable")
    assert complaint in str(bad.failure)


def test_bytes_that_are_no_text_are_no_record(tmp_path: Path) -> None:
    place = store(tmp_path, made_up("fixmatch", 0, 5.0))
    (place / "run.json").write_bytes(b"\xff\xfe\x00")
    assert find_runs([tmp_path])[0].status == "unreadable"


def test_an_error_that_is_not_finite_does_not_count(tmp_path: Path) -> None:
    place = store(tmp_path, made_up("fixmatch", 0, 5.0))
    text = (place / "run.json").read_text().replace('"error": 5.0,\n "error_best"', '"error": NaN,\n "error_best"')
    (place / "run.json").write_text(text)
    assert not find_runs([tmp_path])[0].counts


def test_a_sweep_that_resumed_earlier_runs_has_them(tmp_path: Path) -> None:
    place = store(tmp_path / "first", made_up("fixmatch", 0, 5.0))
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / SWEEP_RUNS).write_text(f"{place}\n{tmp_path / 'gone'}\n")
    assert [run.origin for run in find_runs([tmp_path / "second"])] == [str(place)]
    assert len(find_runs([tmp_path])) == 1


def test_jobs_that_a_sweep_refused_are_among_its_runs_and_do_not_count(tmp_path: Path) -> None:
    store(tmp_path / "sweep", made_up("fixmatch", 0, 5.0))
    job = {"words": ["method=smooth", "num_labels=7"], "why": "num_labels=7 does not divide evenly."}
    (tmp_path / "sweep" / REFUSED_JOBS).write_text(f'{json.dumps(job)}\n{{"words": ["met')
    run, refused, torn = find_runs([tmp_path, tmp_path / "sweep"])
    assert run.counts
    assert (refused.name, refused.status, refused.failure) == ("method=smooth num_labels=7", "refused", job["why"])
    assert (torn.name, torn.status) == ("", "refused")
    assert str(torn.failure).endswith('has a damaged line: {"words": ["met')
    assert not refused.counts
    assert not torn.counts


def test_a_folder_in_which_every_job_was_refused_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / REFUSED_JOBS).write_text('{"words": ["fold=9"], "why": "no such fold"}\n')
    assert [run.status for run in find_runs([tmp_path])] == ["refused"]
