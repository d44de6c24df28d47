import os

import pytest

from smoothpl.io.cores import num_cores


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5, 7})
    assert num_cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    assert num_cores() == 12
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert num_cores() == 1
