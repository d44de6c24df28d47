from pathlib import Path

import pytest

from smoothpl.errors import ConfigError
from smoothpl.record import record as module
from smoothpl.record.record import new_record, read
from smoothpl.run.lock import hold, recording
from tests.support.recording import CONFIG, opened


def test_a_failed_run_has_a_record_that_says_why(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), opened(tmp_path):
        raise RuntimeError("out of luck")
    assert (read(tmp_path).status, read(tmp_path).failure) == ("failed", "RuntimeError: out of luck")


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_run_is_not_called_failed(tmp_path: Path, interruption: type[BaseException]) -> None:
    with pytest.raises(interruption), opened(tmp_path):
        raise interruption
    assert read(tmp_path).status == "interrupted"


def test_two_runs_never_share_a_directory(tmp_path: Path) -> None:
    with opened(tmp_path, "first"):
        pass
    with pytest.raises(ConfigError, match="already holds a run"), opened(tmp_path, "second"):
        pass
    assert read(tmp_path).name == "first"
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", ".lock"}


def test_two_processes_never_work_in_the_same_directory(tmp_path: Path) -> None:
    with hold(tmp_path), pytest.raises(ConfigError, match="is still running"), hold(tmp_path):
        pass
    with hold(tmp_path):
        pass


def test_the_time_of_all_lives_is_added_up(tmp_path: Path) -> None:
    record = new_record(CONFIG)
    record.time_before = 1000.0
    with recording(tmp_path, record):
        pass
    assert record.duration is not None
    assert 1000 <= record.duration < 1100


def test_a_full_disk_does_not_hide_what_went_wrong_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write", no_space)
    with pytest.raises(RuntimeError, match="first"), recording(tmp_path, new_record(CONFIG)):
        raise RuntimeError("first")
