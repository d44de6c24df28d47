import io
import subprocess
import sys
from typing import Any

import pytest

from benchmarks import crowd

SLOWER_BESIDE = """
import os, sys
print("ready", flush=True)
for turn, line in enumerate(sys.stdin):
    print((turn + 1) * (10 if "GOMP_SPINCOUNT" in os.environ else 1), flush=True)
"""


def test_two_processes_take_turns_alone_and_in_company_and_one_of_them_spins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "WORKER", (sys.executable, "-c", SLOWER_BESIDE))
    monkeypatch.setattr(crowd, "TURNS", 2)
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    polite, spinning = crowd.measure("benchmark=digits_40")
    assert polite == crowd.Seconds([1, 3], [2, 4])
    assert spinning == crowd.Seconds([10, 30], [20, 40])


def test_the_fastest_turn_alone_counts_and_in_company_the_one_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    results = crowd.Seconds([0.3, 0.1, 0.2], [0.9, 0.2, 0.4]), crowd.Seconds([0.2, 0.4], [0.8, 0.8])
    monkeypatch.setattr(crowd, "data_folder", lambda: "")
    monkeypatch.setattr(crowd, "measure", lambda *_: results)
    in_company, of_spinning, alone = list(crowd.lines())[:3]
    assert (in_company.ours, in_company.reference, in_company.holds) == (400, 100, False)
    assert (of_spinning.ours, of_spinning.reference, of_spinning.holds) == (800, 200, None)
    assert (alone.ours, alone.reference, alone.holds) == (100, 200, True)


def test_the_other_process_keeps_a_core_busy_and_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    with crowd.company():
        (other,) = started
        assert other.poll() is None
    assert other.poll() is not None


def test_a_process_makes_whole_steps_whenever_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "TURN", 0)
    answers = io.StringIO()
    crowd.answer(["benchmark=digits_40", "batch_size=2"], io.StringIO("\n\n"), answers)
    ready, *seconds = answers.getvalue().splitlines()
    assert ready == "ready"
    assert len(seconds) == 2
    assert all(0 < float(each) < 60 for each in seconds)


def test_a_process_that_cannot_train_has_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "WORKER", (sys.executable, "-c", "raise SystemExit(1)"))
    with pytest.raises(SystemExit) as stopped, crowd.worker(("learning_rate=fast",), {}):
        pass
    assert stopped.value.code == 1
