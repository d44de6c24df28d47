"""hydra._internal.core_plugins.basic_sweeper, as of Hydra 1.3: private, so its behaviour is held here."""

from importlib.metadata import version

import pytest

from smoothpl.run.hydra_sweeper import split_into_jobs


def test_the_adapter_is_written_for_this_version_of_hydra() -> None:
    assert version("hydra-core").startswith("1.3."), "look at smoothpl/run/hydra_sweeper.py: is BasicSweeper the same?"


@pytest.mark.parametrize(
    ("words", "jobs"),
    [
        (["fold=1"], [["fold=1"]]),
        (["fold=0,1", "seed=7"], [["fold=0", "seed=7"], ["fold=1", "seed=7"]]),
        (["method=a,b", "fold=range(2)"], [[m, f] for m in ("method=a", "method=b") for f in ("fold=0", "fold=1")]),
        (["fold=0,1", "fold=5"], [["fold=5"]]),
        ([], [[]]),
    ],
)
def test_a_grid_is_split_as_hydra_does_it(words: list[str], jobs: list[list[str]]) -> None:
    assert split_into_jobs(words) == jobs
