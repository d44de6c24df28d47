"""Two real processes with half of the batch each remember what one with the whole batch does."""

from pathlib import Path

import pytest
import torch

from smoothpl.ranks import of_all_ranks, share_mean
from smoothpl.run.build_method import build_weighting
from tests.support import two_ranks
from tests.support.composing import composed
from tests.support.processes import SERVER, exit_codes, free_port
from tests.support.two_ranks import follow

METHODS = ["flexmatch", "freematch", "softmatch", "adamatch", "dash", "adsh", "saw", "darp max_steps=20"]


@pytest.fixture(scope="module")
def by_two_ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All methods in one pair of processes, because to start one takes longer than all the rest."""
    folder, port = tmp_path_factory.mktemp("ranks"), free_port()
    ranks = [SERVER.Process(target=two_ranks.main, args=(str(folder), rank, port, *METHODS)) for rank in range(2)]
    assert exit_codes(ranks) == [0, 0]
    return folder


def test_ranks_share_their_mean_and_see_the_rows_of_all(by_two_ranks: Path) -> None:
    for rank in range(2):
        sums, (unlabeled, labeled, label) = torch.load(by_two_ranks / f"shared{rank}.pt", weights_only=False)
        assert sums.tolist() == [1.5, 5.0]
        assert [None if each is None else each.tolist() for each in unlabeled] == [*[[0, 1]] * 3, None, None]
        assert labeled.tolist() == [[1.0, 0.0], [0.0, 1.0]]
        assert label.tolist() == [0, 1]


def test_one_process_keeps_what_it_has() -> None:
    sums = torch.tensor([3.0])
    share_mean(sums)
    assert sums.tolist() == [3.0]
    assert of_all_ranks(sums) is sums


def test_two_ranks_hold_the_memory_of_one(by_two_ranks: Path) -> None:
    for method in METHODS:
        (first, first_weight), (second, second_weight) = (
            torch.load(by_two_ranks / f"{method}{rank}.pt") for rank in range(2)
        )
        alone, weight = follow(build_weighting(composed(*f"method={method}".split())), None)
        for name, value in alone.items():
            assert torch.equal(first[name], value)
            assert torch.equal(second[name], value)
        assert torch.equal(torch.cat([first_weight, second_weight]), weight)
