from pathlib import Path

import pytest

from smoothpl.errors import ConfigError
from smoothpl.results.runs import Protocol, find_runs
from tests.results.made_up import made_up, store


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
    with pytest.raises(ConfigError, match=r"nowhere is no folder"):
        find_runs([tmp_path / "nowhere"])


def test_a_record_that_does_not_say_what_was_run_is_refused(tmp_path: Path) -> None:
    record = made_up("smooth", 0, 5.0)
    del record.config["method"]
    store(tmp_path, record)
    with pytest.raises(ConfigError, match=r"its config has no method; move it away"):
        find_runs([tmp_path])
