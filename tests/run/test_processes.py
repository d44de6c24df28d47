import pytest
from lightning.pytorch.utilities import rank_zero_only

from smoothpl.run.processes import is_first_process


@pytest.mark.parametrize(("rank", "is_first"), [(0, True), (1, False), (7, False)])
def test_the_process_of_rank_zero_writes_and_prints(rank: int, is_first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_zero_only, "rank", rank, raising=False)
    assert is_first_process() == is_first
