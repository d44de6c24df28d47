import re
from pathlib import Path

import pytest

from smoothpl.commands import jobs
from smoothpl.record.record import new_record, write
from tests.support.composing import composed


def test_jobs_are_listed_with_what_is_finished_and_what_the_others_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    config = composed("method=smooth", "fold=1", "benchmark=digits_40")
    record = new_record(config)
    record.status = "finished"
    place = tmp_path / "outputs" / "any" / "fold=1,seed=2046" / "x"
    place.mkdir(parents=True)
    write(place, record)
    jobs.main(["experiment=cifar10_40", "benchmark=digits_40", "method=smooth"])
    shown = capsys.readouterr().out
    assert "6 jobs" in shown
    assert len(re.findall(r"1000 +finished", shown)) == 1
    assert "5 of 6 are left: about" in shown
    step = r"A step of method=smooth with trainer\.precision=32-true has [\d.]+ MB in memory"
    assert re.search(step, " ".join(shown.split()))
    assert max(map(len, shown.splitlines())) <= 80
    jobs.main(["method=smooth", "fold=1"])
    assert "All of them are finished." in capsys.readouterr().out
