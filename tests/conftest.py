import os
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from tests.lives import outcome, run


@pytest.fixture(autouse=True)
def one_thread_and_one_seed() -> None:
    """Tests run side by side, and none may depend on what ran before it."""
    torch.set_num_threads(1)
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def no_switch_left_behind() -> Iterator[None]:
    """run_command sets it for its process, which here goes on."""
    yield
    os.environ.pop("HYDRA_FULL_ERROR", None)


@pytest.fixture(scope="session")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The outcome of an uninterrupted run, by its knobs."""
    known: dict[tuple[str, ...], Any] = {}

    def outcome_of(*knobs: str) -> Any:
        if knobs not in known:
            run_dir = tmp_path_factory.mktemp("alone") / "run"
            assert run(run_dir, *knobs).returncode == 0
            known[knobs] = outcome(run_dir)
        return known[knobs]

    return outcome_of
