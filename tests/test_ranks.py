"""Two real processes with half of the batch each remember what one with the whole batch does."""

from pathlib import Path

import pytest
import torch

from smoothpl.run.build import build_weighting
from tests.support import two_ranks
from tests.support.composing import composed
from tests.support.processes import SERVER, exit_codes, free_port
from tests.support.two_ranks import follow

METHODS = ["flexmatch", "freematch", "softmatch", "adamatch", "dash"]


@pytest.fixture(scope="module")
def by_two_ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All methods in one pair of processes, because to start one takes longer than all the rest."""
    folder, port = tmp_path_factory.mktemp("ranks"), free_port()
    ranks = [SERVER.Process(target=two_ranks.main, args=(str(folder), rank, port, *METHODS)) for rank in range(2)]
    assert exit_codes(ranks) == [0, 0]
    return folder


def test_two_ranks_hold_the_memory_of_one(by_two_ranks: Path) -> None:
    for method in METHODS:
        (first, first_weight), (second, second_weight) = (
            torch.load(by_two_ranks / f"{method}{rank}.pt") for rank in range(2)
        )
        alone, weight = follow(build_weighting(composed(f"method={method}")), None)
        for name, value in alone.items():
            assert torch.equal(first[name], value)
            assert torch.equal(second[name], value)
        assert torch.equal(torch.cat([first_weight, second_weight]), weight)
