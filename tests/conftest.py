import os
from collections.abc import Iterator

import pytest
import torch


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
