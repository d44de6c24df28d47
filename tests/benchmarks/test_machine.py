import json
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from benchmarks.machine import describe_gpu, describe_machine, driver


def test_a_machine_says_what_a_measurement_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    machine = describe_machine()
    assert machine["processor"]
    assert machine["cores"] >= machine["usable_cores"] >= 1
    assert machine["threads"] == torch.get_num_threads()
    assert len(machine["load"]) == 3
    assert machine["torch"] == torch.__version__
    assert machine["versions"]["smoothpl"]
    assert machine["environment"]["OMP_WAIT_POLICY"] == "passive"
    assert len(machine["gpus"]) == torch.cuda.device_count()
    assert json.loads(json.dumps(machine)) == machine


def test_a_gpu_has_a_name_a_memory_and_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up = SimpleNamespace(name="A100", total_memory=80, major=8, minor=0, multi_processor_count=108)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: made_up)
    assert describe_gpu(0) == {"name": "A100", "memory": 80, "capability": "8.0", "processors": 108}
    told: Any = SimpleNamespace(stdout="555.42.06\n555.42.06\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: told)
    assert driver() == "555.42.06"


def test_without_its_tool_there_is_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert driver() is None
