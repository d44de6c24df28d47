from pathlib import Path

import pytest

from smoothpl.io import memory
from smoothpl.io.memory import limit_in, machine_memory, spelled, swap


def test_a_machine_has_more_memory_than_python_needs() -> None:
    found = machine_memory()
    assert found is not None
    assert found > 2**26


def test_a_container_has_no_more_than_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "limit").write_text("1000\n")
    (tmp_path / "none").write_text("max\n")
    monkeypatch.setattr(memory, "LIMITS", tuple(str(tmp_path / name) for name in ("limit", "none", "missing")))
    monkeypatch.setattr(memory, "swap", lambda _: 24)
    assert limit_in(str(tmp_path / "none")) is limit_in(str(tmp_path / "missing")) is None
    assert machine_memory() == 1024


def test_swap_counts(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 8 kB\nSwapTotal:    3 kB\n")
    assert swap(tmp_path / "meminfo") == 3 * 1024
    assert swap(tmp_path / "missing") == 0


@pytest.mark.parametrize(
    ("number", "text"), [(500, "0.5 kB"), (2_500_000, "2.5 MB"), (47e9, "47 GB"), (2959e12, "2,959 TB")]
)
def test_bytes_are_spelled_for_people(number: float, text: str) -> None:
    assert spelled(number) == text
